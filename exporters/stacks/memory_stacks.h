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

enum class MemoryBlocks {
  kAll,
  kAlive,  // no free, nor another block at their address, is in the trace
};

// Of records with stacks; nothing where there are none.
std::optional<Folded> FoldMemory(const model::Trace& trace,
                                 const std::vector<std::string>& roots,
                                 MemoryBlocks blocks);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_MEMORY_STACKS_H_
