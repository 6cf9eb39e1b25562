// device_queue.h - how much launched work waited on each stream, and how long.
//
//   for (const StreamQueue& queue : ComputeStreamQueues(trace, launches, {})) {
//     queue.max_length;            // 0: work starts as soon as it is launched
//     queue.full_ns;               // at full_length or more: launches block
//     queue.delay.median_ns;       // from the call's end to the work's start
//   }
//
//   call     1##  2##  3##
//   stream        [1#######][2##][3##]
//   length   1    1    2    1    0
//
// The length goes up when a call that launches begins, and down when the work
// starts. If both happen at one time, up comes first. Work without a call does
// not count. These are the numbers of HolisticTraceAnalysis:
// get_queue_length_summary (over the changes, as here),
// get_time_spent_blocked_on_full_queue and get_cuda_kernel_launch_stats
// (delays, never below 0).
//
// Cost: a sort by stream.
#ifndef KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_QUEUE_H_
#define KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_QUEUE_H_

#include <cstdint>
#include <vector>

#include "profiler/analysis/device/launches.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct QueueOptions {
  int64_t full_length = 1024;  // how many launches CUDA queues
};

struct LaunchDelay {
  DurationNs min_ns = 0;
  DurationNs median_ns = 0;  // of an even number: the lower one
  DurationNs max_ns = 0;
  DurationNs total_ns = 0;
};

struct StreamQueue {
  int64_t pid = 0;
  int32_t device = 0;
  int64_t stream = 0;
  int64_t launch_count = 0;
  int64_t max_length = 0;
  double mean_length = 0;       // over the changes
  double time_mean_length = 0;  // over time, first to last change
  DurationNs full_ns = 0;
  LaunchDelay delay;
};

// By process, device and stream. Streams whose work has no calls are left out.
std::vector<StreamQueue> ComputeStreamQueues(const model::Trace& trace,
                                             const Launches& launches,
                                             const QueueOptions& options);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_QUEUE_H_
