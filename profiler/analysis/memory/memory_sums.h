// memory_sums.h - one pass over the records, which adds up for each pool:
// totals, histograms, leaks, temporary allocations.
//
//   const std::vector<PoolSums> sums = SumMemory(trace, pools);
//
// Other code includes memory_profile.h, which explains these numbers. Here they
// are not yet rounded to whole blocks.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_SUMS_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_SUMS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/analysis/memory/memory_groups.h"
#include "profiler/analysis/memory/memory_pools.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct PoolSums {
  MemoryAmount allocated;
  MemoryAmount freed;
  MemoryAmount temporary;
  int64_t out_of_memory = 0;
  StackMemorySums leaks;
  StackMemorySums temporary_by_stack;
  std::array<int64_t, 64> size_units = {};
  std::array<int64_t, 64> lifetime_units = {};

  void Merge(const PoolSums& other);
};

// One entry for each of `pools`.
std::vector<PoolSums> SumMemory(const model::Trace& trace,
                                const MemoryPools& pools);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_SUMS_H_
