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

analysis::MemoryAmount AmountOf(const model::BlockSum& sum) {
  return {sum.count * analysis::MemoryAmount::kOne, sum.bytes};
}

// Track, whether the memory is a device's, device, stack.
using Key = std::tuple<model::TrackIndex, bool, int8_t, int, uint32_t>;

Key KeyOf(const StackMemory& sum) {
  if (!sum.device) return {sum.track, false, 0, 0, Index(sum.stack)};
  return {sum.track, true, static_cast<int8_t>(sum.device->type),
          sum.device->index, Index(sum.stack)};
}

// `sums` are sorted by their keys.
void JoinEqual(std::vector<StackMemory>& sums) {
  size_t joined = 0;
  for (const StackMemory& sum : sums) {
    if (joined != 0 && KeyOf(sums[joined - 1]) == KeyOf(sum)) {
      sums[joined - 1] += sum;
    } else {
      sums[joined++] = sum;
    }
  }
  sums.resize(joined);
}

}  // namespace

std::vector<StackMemory> SumMemory(const model::Trace& trace) {
  const model::MemorySource host_source = analysis::HostSource(trace);
  const analysis::MemoryBlocks blocks(trace);
  analysis::AllocationFrames frames(trace);
  absl::flat_hash_map<Key, StackMemory> of_records;
  for (model::MemoryIndex i = 0; i < trace.memory().size(); ++i) {
    const MemoryRecord& record = trace.memory()[i];
    if (!blocks.IsAllocation(i) || record.stack == model::kEmptyStack) continue;
    const bool is_host = analysis::IsHostMemory(record);
    if (is_host && record.source != host_source) continue;
    const analysis::MemoryAmount amount = blocks.AmountOf(i);
    const bool is_alive =
        record.address != 0 && blocks.EndOf(i) == BlockEnd::kAlive;
    StackMemory sum = {.track = record.track,
                       .stack = frames.Caller(record.stack),
                       .allocated = amount,
                       .alive = is_alive ? amount : analysis::MemoryAmount()};
    if (!is_host) {
      sum.device = {.type = static_cast<DeviceType>(
                        static_cast<uint8_t>(record.device_type)),
                    .index = record.device_index};
    }
    const auto [at, is_new] = of_records.try_emplace(KeyOf(sum), sum);
    if (!is_new) at->second += sum;
  }
  std::vector<StackMemory> sums;
  for (const auto& [key, sum] : of_records) sums.push_back(sum);
  if (trace.folded_memory() != nullptr) {
    for (const model::FoldedHeap& heap : trace.folded_memory()->heaps) {
      sums.reserve(sums.size() + heap.stacks.size());
      for (const model::FoldedStack& stack : heap.stacks) {
        if (stack.stack == model::kEmptyStack) continue;
        sums.push_back({.track = stack.track,
                        .stack = frames.Caller(stack.stack),
                        .allocated = AmountOf(stack.allocated),
                        .alive = AmountOf(stack.alive)});
      }
    }
  }
  std::ranges::sort(sums, {}, KeyOf);
  JoinEqual(sums);
  return sums;
}

bool FoldMemory(const std::vector<StackMemory>& sums,
                const std::vector<std::string>& roots, MemoryStacks which,
                Metric metric, FoldedStacks& folded) {
  std::vector<FoldedStacks::Weight> weights;
  for (const StackMemory& sum : sums) {
    const analysis::MemoryAmount& amount =
        which == MemoryStacks::kAlive ? sum.alive : sum.allocated;
    if (amount.units == 0) continue;
    const std::string& root = roots[sum.track];
    const FrameTree::Place place = folded.Root(
        sum.device ? root + ";" + analysis::MemoryDeviceName(*sum.device)
                   : root);
    weights.emplace_back(
        FoldedStacks::Key(place, sum.stack),
        metric == Metric::kCount ? amount.count() : amount.bytes);
  }
  const bool has_stacks = !weights.empty();
  folded.AddStacks(std::move(weights));
  return has_stacks;
}

}  // namespace kymo::stacks
