#include "profiler/analysis/device/device_queue.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/analysis/device/test_launches.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;

TEST(DeviceQueueTest, LengthGoesUpWithCallsAndDownWithWork) {
  TestLaunches t;
  t.Call(10, 1);
  t.Call(20, 2);
  t.Call(30, 3);
  const auto stream = t.AddStream(0, 7, 1);
  t.Kernel(stream, "gemm", 30, 60, 1);
  t.Kernel(stream, "gemm", 60, 80, 2);
  t.Kernel(stream, "gemm", 130, 140, 3);
  t.Kernel(stream, "gemm", 150, 160, 99);  // by no call
  const model::Trace trace = std::move(t).Build();

  const std::vector<StreamQueue> queues =
      ComputeStreamQueues(trace, Launches(trace), {.full_length = 2});
  ASSERT_EQ(queues.size(), 1u);
  const StreamQueue& queue = queues[0];
  EXPECT_EQ(queue.stream, 7);
  EXPECT_EQ(queue.launch_count, 3);
  // 1 at 10, 2 at 20, 3 and then 2 at 30, 1 at 60, 0 at 130.
  EXPECT_EQ(queue.max_length, 3);
  EXPECT_DOUBLE_EQ(queue.mean_length, 9.0 / 6);
  EXPECT_DOUBLE_EQ(queue.time_mean_length,
                   (10 * 1 + 10 * 2 + 30 * 2 + 70 * 1) / 120.0);
  EXPECT_EQ(queue.full_ns, 10 + 30);
  EXPECT_EQ(queue.delay.min_ns, 15);
  EXPECT_EQ(queue.delay.median_ns, 35);
  EXPECT_EQ(queue.delay.max_ns, 95);
  EXPECT_EQ(queue.delay.total_ns, 145);
}

TEST(DeviceQueueTest, NodesOfAGraphShareTheirCallsDelay) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "cudaGraphLaunch", 10, 15, ActivityType::kCudaRuntime);
  t.Describe(1);
  const auto stream = t.AddStream(0, 7, 1);
  for (const TimeNs start : {20, 30, 40}) {
    t.AddRange(stream, "node", start, start + 5,
               ActivityType::kConcurrentKernel);
    t.Describe(1);
  }
  const model::Trace trace = std::move(t).Build();
  const std::vector<StreamQueue> queues =
      ComputeStreamQueues(trace, Launches(trace), {});
  ASSERT_EQ(queues.size(), 1u);
  EXPECT_EQ(queues[0].launch_count, 1);
  EXPECT_EQ(queues[0].delay.max_ns, 5);
  EXPECT_EQ(queues[0].max_length, 3);
}

TEST(DeviceQueueTest, WithoutCallsThereIsNoQueue) {
  TestTrace t;
  const auto stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "gemm", 0, 10, ActivityType::kConcurrentKernel);
  const model::Trace trace = std::move(t).Build();
  EXPECT_TRUE(ComputeStreamQueues(trace, Launches(trace), {}).empty());
}

TEST(DeviceQueueTest, AQueueIsFullFromItsLimitOn) {
  const auto full_ns = [](int launches) {
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    for (int i = 0; i < launches; ++i) {
      t.AddRange(main, "cudaLaunchKernel", 10, 10, ActivityType::kCudaRuntime);
      t.Describe(static_cast<uint64_t>(i) + 1);
    }
    const auto stream = t.AddStream(2, 7, 1);
    for (int i = 0; i < launches; ++i) {
      t.AddRange(stream, "k", 60, 60, ActivityType::kConcurrentKernel);
      t.Describe(static_cast<uint64_t>(i) + 1);
    }
    const model::Trace trace = std::move(t).Build();
    const std::vector<StreamQueue> queues =
        ComputeStreamQueues(trace, Launches(trace), {});
    EXPECT_EQ(queues.size(), 1u);
    EXPECT_EQ(queues[0].pid, 1);
    EXPECT_EQ(queues[0].device, 2);
    EXPECT_EQ(queues[0].max_length, launches);
    EXPECT_DOUBLE_EQ(queues[0].time_mean_length, launches);
    return queues[0].full_ns;
  };
  EXPECT_EQ(full_ns(1'023), 0);
  EXPECT_EQ(full_ns(1'024), 50);
}

// The device's clock may be behind.
TEST(DeviceQueueTest, WorkBeforeItsCallsEndHadNoDelay) {
  TestLaunches t;
  t.Call(10, 1);
  t.Call(30, 2);
  const auto stream = t.AddStream(0, 7, 1);
  t.Kernel(stream, "gemm", 5, 20, 1);
  t.Kernel(stream, "gemm", 30, 40, 2);
  const model::Trace trace = std::move(t).Build();
  const std::vector<StreamQueue> queues =
      ComputeStreamQueues(trace, Launches(trace), {});
  ASSERT_EQ(queues.size(), 1u);
  EXPECT_EQ(queues[0].delay.min_ns, 0);
  EXPECT_EQ(queues[0].delay.median_ns, 0);
  EXPECT_EQ(queues[0].delay.total_ns, 0);
}

}  // namespace
}  // namespace kymo::analysis
