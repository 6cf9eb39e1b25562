// memory_steps.h - how memory changed in each step of the program.
//
//   const std::vector<std::vector<MemoryStep>> steps =
//       MemorySteps(trace, pools, live);
//   steps[pool][0].live_end_bytes - steps[pool][0].live_begin_bytes
//
// A step is a range "ProfilerStep#N" on some thread of the pool's process. It
// gets everything that any thread of the process did within it, bounds
// included. So live_begin_bytes is what was alive just before the step.
//
// Cost: without steps, one pass over the names. With steps, a pass over the
//   names, events and records, the records in parallel; memory for the steps
//   only.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_STEPS_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_STEPS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/analysis/memory/live_bytes.h"
#include "profiler/analysis/memory/memory_pools.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct MemoryStep {
  int64_t number = 0;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  int64_t live_begin_bytes = 0;
  int64_t live_end_bytes = 0;
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;

  friend bool operator==(const MemoryStep&, const MemoryStep&) = default;
};

// One entry for each of `pools`, with its steps by start, then number. `live`
// must be made of the same trace and pools.
std::vector<std::vector<MemoryStep>> MemorySteps(const model::Trace& trace,
                                                 const MemoryPools& pools,
                                                 const LiveBytes& live);

// The same of the trace's folded heaps. `of_heaps` are their pools.
// REQUIRES: the trace has folded memory.
std::vector<std::vector<MemoryStep>> FoldedMemorySteps(
    const model::Trace& trace, const MemoryPools& pools,
    std::span<const MemoryPool> of_heaps);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_STEPS_H_
