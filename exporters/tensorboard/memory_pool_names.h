// memory_pool_names.h - what views call the memory that is added up together.
//
//   MemoryPoolNames(pools)   // {"heap", "mapped", "cpu", "cuda:0"}
//
// Where more than one process has memory, its pid follows: "heap of 4242"; an
// exec's second heap gets a number: "heap of 4242 (2)".
#ifndef KYMO_EXPORTERS_TENSORBOARD_MEMORY_POOL_NAMES_H_
#define KYMO_EXPORTERS_TENSORBOARD_MEMORY_POOL_NAMES_H_

#include <string>
#include <vector>

#include "profiler/analysis/memory/memory_pools.h"

namespace kymo::tensorboard {

// Beside pools.all(); all different.
std::vector<std::string> MemoryPoolNames(const analysis::MemoryPools& pools);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_MEMORY_POOL_NAMES_H_
