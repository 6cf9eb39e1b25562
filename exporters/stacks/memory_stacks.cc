#include "exporters/stacks/memory_stacks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
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

Key KeyOf(model::TrackIndex track,
          const std::optional<analysis::MemoryDeviceId>& device,
          model::StackId stack) {
  if (!device) return {track, false, 0, 0, Index(stack)};
  return {track, true, static_cast<int8_t>(device->type), device->index,
          Index(stack)};
}

}  // namespace

MemoryStackSums::MemoryStackSums(const model::Trace& trace) : trace_(trace) {
  analysis::AllocationFrames frames(trace);
  if (trace.folded_memory() != nullptr) {
    for (const model::FoldedHeap& heap : trace.folded_memory()->heaps) {
      heap_sums_ += static_cast<uint32_t>(heap.stacks.size());
      ends_.push_back(heap_sums_);
    }
    sums_.reserve(heap_sums_);
    uint32_t index = 0;
    for (const model::FoldedHeap& heap : trace.folded_memory()->heaps) {
      for (size_t i = 0; i < heap.stacks.size(); ++i, ++index) {
        const model::StackId stack = heap.stacks.stack(i);
        if (stack == model::kEmptyStack) continue;
        sums_.push_back({heap.stacks.track(i), frames.Caller(stack), index});
      }
    }
  }
  AddRecords(frames);
  for (size_t i = 0; i < of_records_.size(); ++i) {
    sums_.push_back({of_records_[i].track, of_records_[i].stack,
                     static_cast<uint32_t>(heap_sums_ + i)});
  }
  std::ranges::sort(sums_, {}, [this](const Sum& sum) {
    return KeyOf(sum.track, DeviceOf(sum), sum.stack);
  });
}

void MemoryStackSums::AddRecords(analysis::AllocationFrames& frames) {
  const model::MemorySource host_source = analysis::HostSource(trace_);
  const analysis::MemoryBlocks blocks(trace_);
  absl::flat_hash_map<Key, uint32_t> places;  // in of_records_
  for (model::MemoryIndex i = 0; i < trace_.memory().size(); ++i) {
    const MemoryRecord& record = trace_.memory()[i];
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
    const auto [at, is_new] =
        places.try_emplace(KeyOf(sum.track, sum.device, sum.stack),
                           static_cast<uint32_t>(of_records_.size()));
    if (is_new) {
      of_records_.push_back(sum);
    } else {
      of_records_[at->second] += sum;
    }
  }
}

StackMemory MemoryStackSums::Get(const Sum& sum) const {
  const auto heap = std::ranges::upper_bound(ends_, sum.index);
  if (heap == ends_.end()) {
    return of_records_[sum.index - heap_sums_];
  }
  const uint32_t begin = heap == ends_.begin() ? 0 : *(heap - 1);
  const model::FoldedHeap& of =
      trace_.folded_memory()->heaps[static_cast<size_t>(heap - ends_.begin())];
  const model::FoldedStack stack = of.stacks[sum.index - begin];
  return {.track = sum.track,
          .stack = sum.stack,
          .allocated = AmountOf(stack.allocated),
          .alive = AmountOf(stack.alive)};
}

bool MemoryStackSums::AreSame(const Sum& a, const Sum& b) const {
  return a.track == b.track && a.stack == b.stack && DeviceOf(a) == DeviceOf(b);
}

bool FoldMemory(const MemoryStackSums& sums,
                const std::vector<std::string>& roots, MemoryStacks which,
                Metric metric, FoldedStacks& folded) {
  std::vector<FoldedStacks::Weight> weights;
  if (which == MemoryStacks::kAllocated) weights.reserve(sums.size());
  sums.ForEach([&](const StackMemory& sum) {
    const analysis::MemoryAmount& amount =
        which == MemoryStacks::kAlive ? sum.alive : sum.allocated;
    if (amount.units == 0) return;
    const std::string& root = roots[sum.track];
    const FrameTree::Place place = folded.Root(
        sum.device ? root + ";" + analysis::MemoryDeviceName(*sum.device)
                   : root);
    weights.emplace_back(
        FoldedStacks::Key(place, sum.stack),
        metric == Metric::kCount ? amount.count() : amount.bytes);
  });
  const bool has_stacks = !weights.empty();
  folded.AddStacks(std::move(weights));
  return has_stacks;
}

}  // namespace kymo::stacks
