// device_times.h - how busy each device was, and with what.
//
//   for (const DeviceTimes& device : ComputeDeviceTimes(trace)) {
//     device.idle_ns;        // of device.window_ns
//     device.overlap_ns;     // communication that computing hides
//   }
//
//   |---------------------- window ----------------------|
//   compute        ######      ####            ####
//   communication     #######         ##
//                     ^^^ overlap           ^^^ idle
//
// Each time is the length of the intervals in which at least one stream does
// such work, so work that runs at once counts once. The window goes from the
// first start to the last end. These are the numbers of HolisticTraceAnalysis:
// get_temporal_breakdown (its non_compute_time is busy_ns - compute_ns),
// get_comm_comp_overlap (overlap_ns over communication_ns) and the kernel types
// of get_gpu_kernel_breakdown.
//
// Cost: a sort of each device's work.
#ifndef KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_TIMES_H_
#define KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_TIMES_H_

#include <cstdint>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct DeviceTimes {
  int64_t pid = 0;
  int32_t index = 0;
  int64_t stream_count = 0;
  int64_t kernel_count = 0;
  int64_t copy_count = 0;  // and sets
  DurationNs window_ns = 0;
  DurationNs busy_ns = 0;
  DurationNs idle_ns = 0;  // window_ns - busy_ns
  DurationNs compute_ns = 0;
  DurationNs communication_ns = 0;
  DurationNs memory_ns = 0;
  DurationNs overlap_ns = 0;         // of computing and communication
  DurationNs memory_overlap_ns = 0;  // of copies and computing
  DurationNs summed_ns = 0;          // all streams added up
};

// By process and index.
std::vector<DeviceTimes> ComputeDeviceTimes(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_TIMES_H_
