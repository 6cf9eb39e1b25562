// memory_stacks.h - where memory was allocated, by stack.
//
//   const std::vector<StackMemory> sums = SumMemory(trace);
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
#ifndef KYMO_EXPORTERS_STACKS_MEMORY_STACKS_H_
#define KYMO_EXPORTERS_STACKS_MEMORY_STACKS_H_

#include <optional>
#include <string>
#include <vector>

#include "exporters/stacks/folded.h"
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

// Sums the records that have stacks, by track, device and stack.
std::vector<StackMemory> SumMemory(const model::Trace& trace);

enum class MemoryStacks { kAllocated, kAlive };

// Adds them to `folded`. The metric is bytes or the number of blocks. False if
// there are none.
bool FoldMemory(const std::vector<StackMemory>& sums,
                const std::vector<std::string>& roots, MemoryStacks which,
                Metric metric, FoldedStacks& folded);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_MEMORY_STACKS_H_
