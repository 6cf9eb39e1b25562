#include "exporters/stacks/memory_stacks.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "profiler/analysis/memory/allocation_frames.h"
#include "profiler/analysis/memory/memory_device.h"
#include "profiler/analysis/memory/memory_usage.h"
#include "profiler/model/folded_memory.h"

namespace kymo::stacks {
namespace {

using analysis::BlockEnd;
using model::MemoryRecord;

std::string DeviceOf(int8_t type, int8_t index) {
  return analysis::MemoryDeviceName(
      {static_cast<DeviceType>(static_cast<uint8_t>(type)), index});
}

analysis::MemoryAmount AmountOf(const model::BlockSum& sum) {
  return {sum.count * analysis::MemoryAmount::kOne, sum.bytes};
}

}  // namespace

std::vector<StackMemory> SumMemory(const model::Trace& trace) {
  const model::MemorySource host_source = analysis::HostSource(trace);
  const analysis::MemoryBlocks blocks(trace);
  analysis::AllocationFrames frames(trace);
  struct Sum {
    analysis::MemoryAmount allocated;
    analysis::MemoryAmount alive;
  };
  // Track, whether the memory is a device's, device, stack.
  using Key = std::tuple<model::TrackIndex, bool, int8_t, int8_t, uint32_t>;
  absl::flat_hash_map<Key, Sum> sums;
  for (model::MemoryIndex i = 0; i < trace.memory().size(); ++i) {
    const MemoryRecord& record = trace.memory()[i];
    if (!blocks.IsAllocation(i) || record.stack == model::kEmptyStack) continue;
    const bool is_host = analysis::IsHostMemory(record);
    if (is_host && record.source != host_source) continue;
    const uint32_t stack = Index(frames.Caller(record.stack));
    Sum& sum = sums[is_host ? Key(record.track, false, 0, 0, stack)
                            : Key(record.track, true, record.device_type,
                                  record.device_index, stack)];
    const analysis::MemoryAmount amount = blocks.AmountOf(i);
    sum.allocated += amount;
    if (record.address != 0 && blocks.EndOf(i) == BlockEnd::kAlive) {
      sum.alive += amount;
    }
  }
  if (trace.folded_memory() != nullptr) {
    for (const model::FoldedHeap& heap : trace.folded_memory()->heaps) {
      for (const model::FoldedStack& stack : heap.stacks) {
        if (stack.stack == model::kEmptyStack) continue;
        Sum& sum = sums[Key(stack.track, false, 0, 0,
                            Index(frames.Caller(stack.stack)))];
        sum.allocated += AmountOf(stack.allocated);
        sum.alive += AmountOf(stack.alive);
      }
    }
  }
  std::vector<std::pair<Key, Sum>> sorted(sums.begin(), sums.end());
  sums = {};
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<StackMemory> list;
  list.reserve(sorted.size());
  for (const auto& [key, sum] : sorted) {
    const auto& [track, is_device, device_type, device_index, stack] = key;
    list.push_back(
        {.track = track,
         .device = is_device ? DeviceOf(device_type, device_index) : "",
         .stack = model::StackId{stack},
         .allocated = sum.allocated,
         .alive = sum.alive});
  }
  return list;
}

bool FoldMemory(const std::vector<StackMemory>& sums,
                const std::vector<std::string>& roots, MemoryStacks which,
                Metric metric, FoldedStacks& folded) {
  FoldedStacks::Weights weights;
  for (const StackMemory& sum : sums) {
    const analysis::MemoryAmount& amount =
        which == MemoryStacks::kAlive ? sum.alive : sum.allocated;
    if (amount.units == 0) continue;
    const std::string& root = roots[sum.track];
    const FrameTree::Place place =
        folded.Root(sum.device.empty() ? root : root + ";" + sum.device);
    weights[FoldedStacks::Key(place, sum.stack)] +=
        metric == Metric::kCount ? amount.count() : amount.bytes;
  }
  folded.AddStacks(weights);
  return !weights.empty();
}

}  // namespace kymo::stacks
