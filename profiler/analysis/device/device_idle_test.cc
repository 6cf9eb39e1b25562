#include "profiler/analysis/device/device_idle.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/analysis/device/test_launches.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;

TEST(DeviceIdleTest, ThreeCausesByTheCallOfWhatCameNext) {
  TestLaunches t;
  t.Call(10, 1);
  t.Call(20, 2);
  t.Call(30, 3);
  t.Call(420, 4);
  const auto stream = t.AddStream(0, 7, 1);
  t.Kernel(stream, "gemm", 100, 200, 1);
  t.Kernel(stream, "gemm", 220, 300, 2);   // launched at 20: a launch's 20 ns
  t.Kernel(stream, "gemm", 350, 400, 3);   // launched at 30: it waited
  t.Kernel(stream, "gemm", 500, 510, 4);   // launched at 420: the host was late
  t.Kernel(stream, "gemm", 600, 610, 99);  // by no call
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
  // The longest gap of each cause, and the work that ended it.
  const auto expect_gap = [&](const IdleGap& gap, TimeNs begin_ns,
                              DurationNs duration_ns) {
    EXPECT_EQ(gap.begin_ns, begin_ns);
    EXPECT_EQ(gap.duration_ns, duration_ns);
    ASSERT_NE(gap.next, model::kNoEvent);
    EXPECT_EQ(trace.start()[gap.next], begin_ns + duration_ns);
  };
  expect_gap(idle[1].host_longest, 400, 100);
  expect_gap(idle[1].launch_longest, 200, 20);
  expect_gap(idle[1].dependency_longest, 510, 90);
  EXPECT_EQ(idle[0].host_longest.next, model::kNoEvent);
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

// On both sides of each limit.
TEST(DeviceIdleTest, TheCauseChangesAtTheLimits) {
  const auto idle_of = [](TimeNs call_ns, DurationNs gap_ns,
                          const IdleOptions& options) {
    TestLaunches t;
    t.Call(call_ns, 1);
    const auto stream = t.AddStream(3, 7, 1);
    t.Kernel(stream, "first", 100, 200, 99);
    t.Kernel(stream, "second", 200 + gap_ns, 100'000, 1);
    const model::Trace trace = std::move(t).Build();
    const std::vector<IdleTime> idle =
        ComputeIdleTimes(trace, Launches(trace), options);
    EXPECT_EQ(idle.size(), 2u);
    EXPECT_EQ(idle[0].pid, 1);
    EXPECT_EQ(idle[0].device, 3);
    EXPECT_EQ(idle[1].pid, 1);
    EXPECT_EQ(idle[1].device, 3);
    return std::vector<int64_t>{
        idle[0].host_ns,      idle[0].host_count,    idle[0].launch_ns,
        idle[0].launch_count, idle[0].dependency_ns, idle[0].dependency_count};
  };
  using Numbers = std::vector<int64_t>;
  EXPECT_EQ(idle_of(201, 50, {}), (Numbers{50, 1, 0, 0, 0, 0}));
  EXPECT_EQ(idle_of(200, 50, {}), (Numbers{0, 0, 50, 1, 0, 0}));
  EXPECT_EQ(idle_of(0, 29'999, {}), (Numbers{0, 0, 29'999, 1, 0, 0}));
  EXPECT_EQ(idle_of(0, 30'000, {}), (Numbers{0, 0, 0, 0, 30'000, 1}));
  EXPECT_EQ(idle_of(0, 0, {}), (Numbers{0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace kymo::analysis
