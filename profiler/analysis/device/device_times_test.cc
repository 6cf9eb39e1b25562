#include "profiler/analysis/device/device_times.h"

#include <utility>

#include "gtest/gtest.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;

TEST(DeviceTimesTest, WhatRunsAtOnceCountsOnce) {
  TestTrace t;
  const auto compute = t.AddStream(0, 7, 1);
  t.AddRange(compute, "gemm", 100, 200, ActivityType::kConcurrentKernel);
  t.AddRange(compute, "gemm", 300, 350, ActivityType::kConcurrentKernel);
  const auto second = t.AddStream(0, 8, 1);
  t.AddRange(second, "relu", 150, 210, ActivityType::kConcurrentKernel);
  const auto comm = t.AddStream(0, 9, 1);
  t.AddRange(comm, "ncclDevKernel_AllReduce", 190, 320,
             ActivityType::kConcurrentKernel);
  const auto copies = t.AddStream(0, 10, 1);
  t.AddRange(copies, "Memcpy HtoD (Pageable -> Device)", 340, 380,
             ActivityType::kGpuMemcpy);
  t.AddRange(copies, "Memset (Device)", 400, 410, ActivityType::kGpuMemset);
  const model::Trace trace = std::move(t).Build();

  const std::vector<DeviceTimes> devices = ComputeDeviceTimes(trace);
  ASSERT_EQ(devices.size(), 1u);
  const DeviceTimes& device = devices[0];
  EXPECT_EQ(device.pid, 1);
  EXPECT_EQ(device.stream_count, 4);
  EXPECT_EQ(device.kernel_count, 4);
  EXPECT_EQ(device.copy_count, 2);
  EXPECT_EQ(device.window_ns, 310);
  EXPECT_EQ(device.busy_ns, 290);
  EXPECT_EQ(device.idle_ns, 20);
  EXPECT_EQ(device.compute_ns, 160);
  EXPECT_EQ(device.communication_ns, 130);
  EXPECT_EQ(device.memory_ns, 50);
  EXPECT_EQ(device.overlap_ns, 20 + 20);
  EXPECT_EQ(device.memory_overlap_ns, 10);
  EXPECT_EQ(device.summed_ns, 100 + 50 + 60 + 130 + 40 + 10);
}

TEST(DeviceTimesTest, DevicesOfSeveralProcessesStandApart) {
  TestTrace t;
  for (const int64_t pid : {1, 2}) {
    const auto stream = t.AddStream(0, 7, pid);
    t.AddRange(stream, "gemm", 0, 100 * pid, ActivityType::kConcurrentKernel);
  }
  const model::Trace trace = std::move(t).Build();
  const std::vector<DeviceTimes> devices = ComputeDeviceTimes(trace);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].busy_ns, 100);
  EXPECT_EQ(devices[1].busy_ns, 200);
}

TEST(DeviceTimesTest, ATraceWithoutDevicesHasNone) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "aten::mm", 0, 100);
  const model::Trace trace = std::move(t).Build();
  EXPECT_TRUE(ComputeDeviceTimes(trace).empty());
}

}  // namespace
}  // namespace kymo::analysis
