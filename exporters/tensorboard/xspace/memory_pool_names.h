// memory_pool_names.h - the names under which views show memory pools.
//
//   MemoryPoolNames(pools)   // {"heap", "mapped", "cpu", "cuda:0"}
//
// A pool is memory that is added up together (memory_pools.h). If several
// processes have memory, the pid follows the name: "heap of 4242". A process
// that called exec has a second heap, which gets a number: "heap of 4242 (2)".
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_MEMORY_POOL_NAMES_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_MEMORY_POOL_NAMES_H_

#include <string>
#include <vector>

#include "profiler/analysis/memory/memory_pools.h"

namespace kymo::tensorboard {

// One name for each entry of pools.all(), in that order. All names differ.
std::vector<std::string> MemoryPoolNames(const analysis::MemoryPools& pools);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_MEMORY_POOL_NAMES_H_
