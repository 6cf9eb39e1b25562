// memory_stacks.h - where memory was allocated, as folded stacks.
//
//   xz;main;lzma_alloc 1048576
//
// The weight is bytes: of all allocations, or of those that nobody freed. The
// host's memory counts by its source (analysis/memory_usage.h), so that no byte
// counts twice; sampled allocations count for all that they stand for. Memory
// of a device has the device ("cuda:0") as a frame below the root.
#ifndef KYMO_EXPORTERS_STACKS_MEMORY_STACKS_H_
#define KYMO_EXPORTERS_STACKS_MEMORY_STACKS_H_

#include <optional>
#include <string>
#include <vector>

#include "exporters/stacks/folded.h"
#include "profiler/model/trace.h"

namespace kymo::stacks {

enum class MemoryStacks {
  kAllocated,
  // No free, nor another block at its address, is in the trace. Blocks reported
  // without an address cannot be followed, and are none of these.
  kAlive,
};

// Of records with stacks; nothing where there are none.
std::optional<Folded> FoldMemory(const model::Trace& trace,
                                 const std::vector<std::string>& roots,
                                 MemoryStacks which);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_MEMORY_STACKS_H_
