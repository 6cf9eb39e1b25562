// undelivered.h - the CPU time that ran without a tick.
#ifndef KYMO_BACKENDS_SAMPLING_UNDELIVERED_H_
#define KYMO_BACKENDS_SAMPLING_UNDELIVERED_H_

#include <cstdint>

#include "profiler/base/time.h"

namespace kymo::sampling {

// Ticks missing when `cpu_time_ns` ran and samples stand for `sampled_ns` of
// it; 0 while less than 5 % and 10 ticks are missing: a thread's last, not yet
// full period is never sampled, and that is no loss.
constexpr uint64_t UndeliveredSamples(DurationNs cpu_time_ns,
                                      DurationNs sampled_ns,
                                      DurationNs period_ns) {
  const DurationNs missing_ns = cpu_time_ns - sampled_ns;
  if (missing_ns <= cpu_time_ns / 20 || missing_ns <= 10 * period_ns) return 0;
  return static_cast<uint64_t>(missing_ns / period_ns);
}

// CPU time of the children of this process that were waited for, and of theirs.
// The kernel leaves out what a hypervisor took away, during which no tick can
// come either; the clock of perf events does not.
DurationNs ChildrenCpuNs();

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_UNDELIVERED_H_
