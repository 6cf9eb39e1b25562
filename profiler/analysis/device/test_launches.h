// test_launches.h - traces of calls and of the kernels that they launch.
//
//   TestLaunches t;                           // with a thread, t.main()
//   t.Call(10, /*id=*/1);
//   const auto stream = t.AddStream(0, 7, 1);
//   t.Kernel(stream, "gemm", 100, 200, /*id=*/1);
//   const model::Trace trace = std::move(t).Build();
#ifndef KYMO_PROFILER_ANALYSIS_DEVICE_TEST_LAUNCHES_H_
#define KYMO_PROFILER_ANALYSIS_DEVICE_TEST_LAUNCHES_H_

#include <string_view>

#include "tests/support/test_trace.h"

namespace kymo::analysis {

class TestLaunches : public TestTrace {
 public:
  TestLaunches() : main_(AddThread(1, 1, "main")) {}

  model::TrackIndex main() const { return main_; }

  // A call of 5 ns on the thread.
  void Call(TimeNs start_ns, uint64_t id) {
    AddRange(main_, "cudaLaunchKernel", start_ns, start_ns + 5,
             model::ActivityType::kCudaRuntime);
    Describe(id);
  }

  void Kernel(model::TrackIndex stream, std::string_view name, TimeNs start_ns,
              TimeNs end_ns, uint64_t id) {
    AddRange(stream, name, start_ns, end_ns,
             model::ActivityType::kConcurrentKernel);
    Describe(id);
  }

 private:
  const model::TrackIndex main_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_DEVICE_TEST_LAUNCHES_H_
