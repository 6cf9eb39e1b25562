#include "profiler/analysis/memory/live_bytes.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <vector>

#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/base/parallel_sort.h"

namespace kymo::analysis {
namespace {

using model::MemoryEvent;
using model::MemoryIndex;
using model::MemoryRecord;
using model::MemorySource;

}  // namespace

LiveBytes::LiveBytes(const model::Trace& trace, const MemoryPools& pools)
    : trace_(trace) {
  const bool is_needed = std::any_of(
      pools.all().begin(), pools.all().end(),
      [](const auto& pool) { return pool.source != MemorySource::kHeap; });
  if (!is_needed) return;

  const auto memory = trace.memory();
  const MemoryBlocks blocks(trace);
  Column<MemoryMoment> order;
  for (MemoryIndex i = 0; i < memory.size(); ++i) {
    if (memory[i].source != MemorySource::kHeap &&
        memory[i].event == MemoryEvent::kAllocation) {
      order.push_back(blocks.MomentOf(i));
    }
  }
  if (!std::is_sorted(order.begin(), order.end())) {
    ParallelSort(order.begin(), order.end(), std::less<>());
  }

  sums_.resize(memory.size());
  std::vector<int64_t> totals(pools.size());
  // Bytes of blocks whose free nobody saw, by the record at which the block
  // ends.
  std::unordered_map<MemoryIndex, int64_t> ended;
  for (const MemoryMoment& moment : order) {
    const MemoryRecord& record = memory[moment.index];
    int64_t& total = totals[pools.IndexOf(record)];
    if (const auto end = ended.find(moment.index); end != ended.end()) {
      total -= end->second;
      ended.erase(end);
    }
    total += record.bytes;
    sums_[moment.index] = total;
    if (blocks.IsAllocation(moment.index) &&
        blocks.EndOf(moment.index) == BlockEnd::kUnseen) {
      ended[record.partner] += record.bytes;
    }
  }
}

}  // namespace kymo::analysis
