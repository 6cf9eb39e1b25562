// device_idle.h - how long streams and devices had nothing to do, and why.
//
//   for (const IdleTime& idle : ComputeIdleTimes(trace, Launches(trace), {}))
//     idle.host_ns, idle.launch_ns, idle.dependency_ns
//
// A gap lies between the end of a stream's work and the start of its next work.
// Its cause follows from the call that launched that next work:
//
//   host        the call began after the gap did: the host was late
//        call            ######
//        stream  ####~~~~~~~~~~~~####
//   launch      launched in time, and the gap is shorter than
//               `launch_gap_ns`, which two kernels in a row always take
//   dependency  launched in time, but it waited: for another stream, an event,
//               a resource
//
// Work without a call counts as launched in time. The three causes are the
// host_wait, kernel_wait and other of HolisticTraceAnalysis
// (get_idle_time_breakdown). Its `consecutive_kernel_delay` of 30 is compared
// with times in microseconds, so ours is 30 us. If work of a stream overlaps, a
// gap counts from the last end so far: times are never negative, as they can be
// there.
//
// The causes for a whole device are the same: its gaps are the times in which
// none of its streams worked.
//
// Cost: linear.
#ifndef KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_IDLE_H_
#define KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_IDLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/analysis/device/launches.h"
#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct IdleOptions {
  DurationNs launch_gap_ns = 30 * kNsPerUs;
};

// A time without work.
struct IdleGap {
  TimeNs begin_ns = 0;
  DurationNs duration_ns = 0;
  model::EventIndex next = model::kNoEvent;  // the work that ended it
};

struct IdleTime {
  int64_t pid = 0;
  int32_t device = 0;
  std::optional<int64_t> stream;  // none: the device as a whole
  DurationNs host_ns = 0;
  DurationNs launch_ns = 0;
  DurationNs dependency_ns = 0;
  int64_t host_count = 0;
  int64_t launch_count = 0;
  int64_t dependency_count = 0;
  // The longest of each cause; of equal ones the first.
  IdleGap host_longest;
  IdleGap launch_longest;
  IdleGap dependency_longest;

  DurationNs total_ns() const { return host_ns + launch_ns + dependency_ns; }
};

// By process and device: the device as a whole, then its streams.
std::vector<IdleTime> ComputeIdleTimes(const model::Trace& trace,
                                       const Launches& launches,
                                       const IdleOptions& options);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_IDLE_H_
