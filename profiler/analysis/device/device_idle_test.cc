#include "profiler/analysis/device/device_idle.h"

#include <utility>

#include "gtest/gtest.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;

TEST(DeviceIdleTest, ThreeCausesByTheCallOfWhatCameNext) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  const auto call = [&](TimeNs start, uint64_t id) {
    t.AddRange(main, "cudaLaunchKernel", start, start + 5,
               ActivityType::kCudaRuntime);
    t.Describe(id);
  };
  call(10, 1);
  call(20, 2);
  call(30, 3);
  call(420, 4);
  const auto stream = t.AddStream(0, 7, 1);
  const auto kernel = [&](TimeNs start, TimeNs end, uint64_t id) {
    t.AddRange(stream, "gemm", start, end, ActivityType::kConcurrentKernel);
    t.Describe(id);
  };
  kernel(100, 200, 1);
  kernel(220, 300, 2);   // launched at 20: 20 ns are a launch's
  kernel(350, 400, 3);   // launched at 30: it waited
  kernel(500, 510, 4);   // launched at 420: the host was late
  kernel(600, 610, 99);  // by no call
  const auto second = t.AddStream(0, 8, 1);
  t.AddRange(second, "relu", 300, 450, ActivityType::kConcurrentKernel);
  const model::Trace trace = std::move(t).Build();

  const std::vector<IdleTime> idle =
      ComputeIdleTimes(trace, Launches(trace), {.launch_gap_ns = 30});
  ASSERT_EQ(idle.size(), 3u);
  EXPECT_EQ(idle[0].stream, std::nullopt);
  EXPECT_EQ(idle[1].stream, 7);
  EXPECT_EQ(idle[1].launch_ns, 20);
  EXPECT_EQ(idle[1].dependency_ns, 50 + 90);
  EXPECT_EQ(idle[1].dependency_count, 2);
  EXPECT_EQ(idle[1].host_ns, 100);
  EXPECT_EQ(idle[1].host_count, 1);
  EXPECT_EQ(idle[1].total_ns(), 260);
  EXPECT_EQ(idle[2].stream, 8);
  EXPECT_EQ(idle[2].total_ns(), 0);
  // The whole device is idle in 200-220, 450-500 (launched at 420) and 510-600.
  EXPECT_EQ(idle[0].launch_ns, 20);
  EXPECT_EQ(idle[0].host_ns, 0);
  EXPECT_EQ(idle[0].dependency_ns, 50 + 90);
}

TEST(DeviceIdleTest, OverlappingWorkLeavesNoNegativeGap) {
  TestTrace t;
  const auto stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "long", 0, 100, ActivityType::kConcurrentKernel);
  t.AddRange(stream, "short", 10, 20, ActivityType::kConcurrentKernel);
  t.AddRange(stream, "next", 110, 120, ActivityType::kConcurrentKernel);
  const model::Trace trace = std::move(t).Build();
  const std::vector<IdleTime> idle =
      ComputeIdleTimes(trace, Launches(trace), {.launch_gap_ns = 5});
  ASSERT_EQ(idle.size(), 2u);
  EXPECT_EQ(idle[1].dependency_ns, 10);
  EXPECT_EQ(idle[1].total_ns(), 10);
}

}  // namespace
}  // namespace kymo::analysis
