// memory_stacks.h - where memory was allocated, by stack.
//
//   const MemoryStackSums sums(trace);
//   sums.ForEach([&](const StackMemory& sum) { Print(sum.allocated.bytes); });
//   FoldedStacks folded(trace, max_frames);
//   FoldMemory(sums, StackRoots(trace, false), MemoryStacks::kAllocated,
//              Metric::kWeight, folded);   // xz;main;lzma_alloc 1048576
//
// There are two sums: all allocations, and the allocations that nobody freed.
// The host's memory is taken from one source
// (profiler/analysis/memory/memory_usage.h), so that no byte counts twice. A
// sampled allocation counts for all that it stands for. Stacks end at the
// function that asked for memory: allocators are left out
// (profiler/analysis/memory/allocation_frames.h), because they would be the
// innermost frame of every stack. In folded stacks, a
// device's memory has the device ("cuda:0") as a frame below the root.
//
// Memory: 12 bytes for each sum of a folded heap, which stays in the trace, and
//   about 68 for each stack of single records.
#ifndef KYMO_EXPORTERS_STACKS_MEMORY_STACKS_H_
#define KYMO_EXPORTERS_STACKS_MEMORY_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exporters/stacks/folded.h"
#include "profiler/analysis/memory/allocation_frames.h"
#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/analysis/memory/memory_device.h"
#include "profiler/model/trace.h"

namespace kymo::stacks {

struct StackMemory {
  model::TrackIndex track = 0;
  std::optional<analysis::MemoryDeviceId> device;  // none: the host
  model::StackId stack = model::kEmptyStack;
  analysis::MemoryAmount allocated;
  // Blocks for which the trace has no free and no later block at the same
  // address. Blocks without an address are not counted here, because their
  // frees cannot be found.
  analysis::MemoryAmount alive;

  // Adds the memory of another one.
  StackMemory& operator+=(const StackMemory& other) {
    allocated += other.allocated;
    alive += other.alive;
    return *this;
  }
};

// The sums of records that have stacks. `trace` must outlive it.
class MemoryStackSums {
 public:
  explicit MemoryStackSums(const model::Trace& trace);

  bool empty() const { return sums_.empty(); }
  // Some of them may be one for ForEach.
  size_t size() const { return sums_.size(); }

  // visit(const StackMemory&) for each, by track, device and stack.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (size_t i = 0; i < sums_.size();) {
      StackMemory sum = Get(sums_[i]);
      for (++i; i < sums_.size() && AreSame(sums_[i - 1], sums_[i]); ++i) {
        sum += Get(sums_[i]);
      }
      visit(static_cast<const StackMemory&>(sum));
    }
  }

 private:
  struct Sum {
    model::TrackIndex track;
    model::StackId stack;
    // In the stacks of all heaps, one after the other; behind these, in
    // of_records_.
    uint32_t index;
  };

  void AddRecords(analysis::AllocationFrames& frames);
  StackMemory Get(const Sum& sum) const;
  const std::optional<analysis::MemoryDeviceId>& DeviceOf(
      const Sum& sum) const {
    static constexpr std::optional<analysis::MemoryDeviceId> host;
    return sum.index < heap_sums_ ? host
                                  : of_records_[sum.index - heap_sums_].device;
  }
  bool AreSame(const Sum& a, const Sum& b) const;

  const model::Trace& trace_;
  std::vector<uint32_t> ends_;  // by heap, in the stacks of all heaps
  uint32_t heap_sums_ = 0;      // the stacks of all heaps
  std::vector<StackMemory> of_records_;
  std::vector<Sum> sums_;
};

enum class MemoryStacks { kAllocated, kAlive };

// Adds them to `folded`. The metric is bytes or the number of blocks. False if
// there are none.
bool FoldMemory(const MemoryStackSums& sums,
                const std::vector<std::string>& roots, MemoryStacks which,
                Metric metric, FoldedStacks& folded);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_MEMORY_STACKS_H_
