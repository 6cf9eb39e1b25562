// memory_peak.h - the largest amount of memory alive at once, and who held it.
//
//   const std::vector<MemoryPeak> peaks = MemoryPeaks(trace, pools, live);
//   peaks[0].by_stack.front().bytes
//
// The blocks of the peak are those that are alive right after the record that
// first reached it. Their bytes add up to the peak's, with these exceptions:
// sampled heaps differ by the rounding of estimates; mappings and reports
// differ by memory that was freed in parts or has no address.
//
// Cost: two passes over the records, parallel; the result does not depend on
//   the number of threads.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_PEAK_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_PEAK_H_

#include <cstdint>
#include <vector>

#include "profiler/analysis/memory/live_bytes.h"
#include "profiler/analysis/memory/memory_groups.h"
#include "profiler/analysis/memory/memory_pools.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct MemoryPeak {
  int64_t bytes = 0;  // 0: nothing was ever alive, and time_ns means nothing
  TimeNs time_ns = 0;
  std::vector<StackMemory> by_stack;          // largest first
  std::vector<OperationMemory> by_operation;  // largest first

  friend bool operator==(const MemoryPeak&, const MemoryPeak&) = default;
};

// One entry for each of `pools`. `live` must be made of the same trace and
// pools.
std::vector<MemoryPeak> MemoryPeaks(const model::Trace& trace,
                                    const MemoryPools& pools,
                                    const LiveBytes& live);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_PEAK_H_
