#include "profiler/analysis/device/launches.h"

#include <utility>

#include "gtest/gtest.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;
using model::kNoEvent;

TEST(LaunchesTest, CallsAndKernelsOfAProcessAreJoinedByTheirId) {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  const auto op = t.AddRange(main, "aten::mm", 0, 100);
  const auto call =
      t.AddRange(main, "cudaLaunchKernel", 10, 20, ActivityType::kCudaRuntime);
  t.Describe(7);
  const auto driver =
      t.AddRange(main, "cuLaunchKernel", 12, 18, ActivityType::kCudaDriver);
  t.Describe(7);
  const auto alone =
      t.AddRange(main, "cudaMalloc", 200, 210, ActivityType::kCudaRuntime);
  t.Describe(8);
  const auto stream = t.AddStream(0, 7, /*pid=*/1);
  const auto kernel =
      t.AddRange(stream, "gemm", 30, 90, ActivityType::kConcurrentKernel);
  t.Describe(7);
  const auto orphan =
      t.AddRange(stream, "fill", 95, 99, ActivityType::kConcurrentKernel);
  t.Describe(9);
  const model::Trace trace = std::move(t).Build();

  const Launches launches(trace);
  EXPECT_EQ(launches.LauncherOf(kernel), call);
  EXPECT_EQ(launches.LauncherOf(orphan), kNoEvent);
  EXPECT_EQ(launches.LauncherOf(op), kNoEvent);
  EXPECT_TRUE(launches.IsLauncher(call));
  EXPECT_FALSE(launches.IsLauncher(driver));
  EXPECT_FALSE(launches.IsLauncher(alone));
  EXPECT_EQ(launches.OperationOf(kernel), op);
  EXPECT_EQ(launches.OperationOf(call), op);
  EXPECT_EQ(launches.OperationOf(alone), kNoEvent);
  EXPECT_EQ(launches.OperationOf(orphan), kNoEvent);
}

TEST(LaunchesTest, IdsOfAnotherProcessAreOthers) {
  TestTrace t;
  t.AddProcess(1, "one");
  t.AddProcess(2, "two");
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "cudaLaunchKernel", 10, 20, ActivityType::kCudaRuntime);
  t.Describe(7);
  const auto stream = t.AddStream(0, 7, /*pid=*/2);
  const auto kernel =
      t.AddRange(stream, "gemm", 30, 90, ActivityType::kConcurrentKernel);
  t.Describe(7);
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(Launches(trace).LauncherOf(kernel), kNoEvent);
}

TEST(LaunchesTest, AnnotationsOfAStreamHaveIdsOfOperations) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "cudaLaunchKernel", 10, 20, ActivityType::kCudaRuntime);
  t.Describe(7);
  const auto stream = t.AddStream(0, 7, /*pid=*/1);
  const auto annotation =
      t.AddRange(stream, "step", 30, 90, ActivityType::kGpuUserAnnotation);
  t.Describe(7);
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(Launches(trace).LauncherOf(annotation), kNoEvent);
}

TEST(LaunchesTest, IdsOfFilesTellProcessesApart) {
  TestTrace t;
  t.AddProcess(1, "one");
  t.AddProcess(2, "two");
  for (const int pid : {1, 2}) {
    t.AddRange(t.AddThread(pid, pid, "main"), "cudaLaunchKernel", 10, 20,
               ActivityType::kCudaRuntime);
    t.Describe(7);
    t.AddRange(t.AddStream(0, 7, pid), "gemm", 30, 90,
               ActivityType::kConcurrentKernel);
    t.Describe(7);
  }
  const model::Trace trace = std::move(t).Build();
  const Launches launches(trace);
  EXPECT_EQ(launches.FileId(0), 7u);
  EXPECT_EQ(launches.FileId(1), 7u);
  EXPECT_EQ(launches.FileId(2), launches.FileId(3));
  EXPECT_NE(launches.FileId(2), 7u);
}

TEST(LaunchesTest, WithoutAStreamThereIsNothingToJoin) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  const auto call =
      t.AddRange(main, "cudaMalloc", 10, 20, ActivityType::kCudaRuntime);
  t.Describe(7);
  const model::Trace trace = std::move(t).Build();
  const Launches launches(trace);
  EXPECT_EQ(launches.LauncherOf(call), kNoEvent);
  EXPECT_FALSE(launches.IsLauncher(call));
}

}  // namespace
}  // namespace kymo::analysis
