// test_device_trace.h - the trace of the tests of device tables.
//
//   aten::mm               1000 - 9000 ns
//     cudaLaunchKernel     2000 - 3000   launches gemm
//     cudaMemcpyAsync      4000 - 5000   launches the copy
//   stream 7: gemm         3500 - 6000
//     Memcpy DtoH          6010 - 7010   5000 bytes
//     ncclDevKernel_...    8000 - 12000  launched by nobody
//
// The main thread was on a CPU for 9000 of 11000 ns, and waited for a lock from
// 6000 to 8000.
#ifndef KYMO_PROFILER_REPORT_TEST_DEVICE_TRACE_H_
#define KYMO_PROFILER_REPORT_TEST_DEVICE_TRACE_H_

#include <utility>

#include "profiler/model/waits.h"
#include "tests/support/test_trace.h"

namespace kymo::report {

inline model::Trace DeviceTrace() {
  using model::ActivityType;
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "aten::mm", 1000, 9000);
  t.AddRange(main, "cudaLaunchKernel", 2000, 3000, ActivityType::kCudaRuntime);
  t.Describe(1);
  t.AddRange(main, "cudaMemcpyAsync", 4000, 5000, ActivityType::kCudaRuntime);
  t.Describe(2);
  const auto stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "gemm", 3500, 6000, ActivityType::kConcurrentKernel);
  t.Describe(1);
  t.AddRange(stream, "Memcpy DtoH (Device -> Pinned)", 6010, 7010,
             ActivityType::kGpuMemcpy);
  t.Describe(2, {model::Arg::Int(t.Intern("bytes"), 5000)});
  t.AddRange(stream, "ncclDevKernel_AllReduce", 8000, 12000,
             ActivityType::kConcurrentKernel);
  t.SetThreadTimes({{.track = main, .wall_ns = 11000, .on_cpu_ns = 9000}});
  t.AddWait({.track = main,
             .kind = model::WaitKind::kLock,
             .begin_ns = 6000,
             .duration_ns = 2000},
            {"main", "pthread_mutex_lock"});
  return std::move(t).Build();
}

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_TEST_DEVICE_TRACE_H_
