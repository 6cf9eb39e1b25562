#include "profiler/tables/memory_by_stack.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "profiler/model/folded_memory.h"

namespace kymo::tables {
namespace {

// Process, source, type and index of the device, stack.
using Key = std::tuple<int64_t, model::MemorySource, int8_t, int8_t, uint32_t>;

struct Sum {
  analysis::MemoryAmount allocated;
  analysis::MemoryAmount alive;
};
using Sums = absl::flat_hash_map<Key, Sum>;

void AddRecords(const model::Trace& trace, Sums& sums) {
  const analysis::MemoryBlocks blocks(trace);
  for (model::MemoryIndex i = 0; i < trace.memory().size(); ++i) {
    if (!blocks.IsAllocation(i)) continue;
    const model::MemoryRecord& record = trace.memory()[i];
    Sum& sum =
        sums[Key(trace.tracks()[record.track].pid, record.source,
                 record.device_type, record.device_index, Index(record.stack))];
    const analysis::MemoryAmount amount = blocks.AmountOf(i);
    sum.allocated += amount;
    // The free of a block without an address cannot be found.
    if (record.address != 0 && blocks.EndOf(i) == analysis::BlockEnd::kAlive) {
      sum.alive += amount;
    }
  }
}

analysis::MemoryAmount AmountOf(const model::BlockSum& sum) {
  return {sum.count * analysis::MemoryAmount::kOne, sum.bytes};
}

void AddFolded(const model::Trace& trace, Sums& sums) {
  if (trace.folded_memory() == nullptr) return;
  for (const model::FoldedHeap& heap : trace.folded_memory()->heaps) {
    for (const model::FoldedStack& stack : heap.stacks) {
      Sum& sum =
          sums[Key(trace.tracks()[stack.track].pid, model::MemorySource::kHeap,
                   int8_t{0}, int8_t{-1}, Index(stack.stack))];
      sum.allocated += AmountOf(stack.allocated);
      sum.alive += AmountOf(stack.alive);
    }
  }
}

}  // namespace

std::vector<MemoryByStack> SumMemoryByStack(const model::Trace& trace) {
  Sums sums;
  AddRecords(trace, sums);
  AddFolded(trace, sums);
  std::vector<std::pair<Key, Sum>> sorted(sums.begin(), sums.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<MemoryByStack> rows;
  rows.reserve(sorted.size());
  for (const auto& [key, sum] : sorted) {
    const auto& [pid, source, type, index, stack] = key;
    rows.push_back({pid, source, type, index, model::StackId{stack},
                    sum.allocated, sum.alive});
  }
  return rows;
}

}  // namespace kymo::tables
