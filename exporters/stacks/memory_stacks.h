// memory_stacks.h - where memory was allocated, by stack.
//
//   const std::vector<StackMemory> sums = SumMemory(trace);
//   FoldMemory(trace, sums, StackRoots(trace, false), MemoryStacks::kAllocated,
//              Metric::kWeight);   // xz;main;lzma_alloc 1048576
//
// Counts all allocations, and those that nobody freed. The host's memory counts
// by its source (analysis/memory_usage.h), so that no byte counts twice;
// sampled allocations count for all that they stand for. In folded stacks,
// memory of a device has the device ("cuda:0") as a frame below the root.
#ifndef KYMO_EXPORTERS_STACKS_MEMORY_STACKS_H_
#define KYMO_EXPORTERS_STACKS_MEMORY_STACKS_H_

#include <optional>
#include <string>
#include <vector>

#include "exporters/stacks/folded.h"
#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/model/trace.h"

namespace kymo::stacks {

struct StackMemory {
  model::TrackIndex track = 0;
  std::string device;  // "cuda:0"; empty: the host's
  model::StackId stack = model::kEmptyStack;
  analysis::MemoryAmount allocated;
  // No free, nor another block at its address, is in the trace. Blocks reported
  // without an address cannot be followed, and are none of these.
  analysis::MemoryAmount alive;
};

// Of records with stacks, by track, device and stack.
std::vector<StackMemory> SumMemory(const model::Trace& trace);

enum class MemoryStacks { kAllocated, kAlive };

// Bytes, or numbers of blocks. Nothing where there are none.
std::optional<Folded> FoldMemory(const model::Trace& trace,
                                 const std::vector<StackMemory>& sums,
                                 const std::vector<std::string>& roots,
                                 MemoryStacks which, Metric metric);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_MEMORY_STACKS_H_
