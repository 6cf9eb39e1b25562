#include "profiler/events/function_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/events/test_events.h"

namespace kymo {
namespace {

using ::testing::HasSubstr;

TEST(FunctionEventTest, WithoutChildrenSelfIsTotal) {
  FunctionEvent e = Cpu("op", 1, 3.5);
  e.count = 2;
  EXPECT_EQ(e.cpu_time_total(), 2.5);
  EXPECT_EQ(e.self_cpu_time_total(), 2.5);
  EXPECT_EQ(e.cpu_time(), 1.25);
  e.count = 0;
  EXPECT_EQ(e.cpu_time(), 0);
}

TEST(FunctionEventTest, AsyncEventsHaveNoSelfButATotal) {
  FunctionEvent e = Async("op", 0, 4);
  e.use_device = "cuda";
  e.kernels = {{"k", 0, 3}};
  e.cpu_memory_usage = e.device_memory_usage = 8;
  EXPECT_EQ(e.cpu_time_total(), 4);
  EXPECT_EQ(e.self_cpu_time_total(), 0);
  EXPECT_EQ(e.device_time_total(), 0);
  EXPECT_EQ(e.self_device_time_total(), 0);
  EXPECT_EQ(e.self_cpu_memory_usage(), 0);
  EXPECT_EQ(e.self_device_memory_usage(), 0);
}

TEST(FunctionEventTest, DeviceTimeNeedsTheDeviceOfTheProfile) {
  FunctionEvent cpu = Cpu("op", 0, 4);
  cpu.kernels = {{"k", 0, 3}, {"k", 0, 0.5}};
  EXPECT_EQ(cpu.device_time_total(), 0);
  cpu.use_device = "cuda";
  EXPECT_EQ(cpu.device_time_total(), 3.5);
  EXPECT_EQ(cpu.self_device_time_total(), 3.5);

  FunctionEvent kernel = Cuda("k", 1, 4);
  EXPECT_EQ(kernel.device_time_total(), 0);
  kernel.use_device = "cuda";
  EXPECT_EQ(kernel.device_time_total(), 3);
  EXPECT_EQ(kernel.self_device_time_total(), 3);
  EXPECT_EQ(kernel.cpu_time_total(), 0);
  EXPECT_EQ(kernel.self_cpu_time_total(), 0);
}

TEST(FunctionEventTest, LegacyEventsLeaveTheChildrenOutOfTheirTotal) {
  FunctionEvent e = Cpu("op", 0, 10);
  e.use_device = "cuda";
  e.kernels = {{"op", 0, 5}};
  e.child_totals.device_time_us = 7;
  EXPECT_EQ(e.device_time_total(), 12);
  EXPECT_EQ(e.self_device_time_total(), 5);
  e.is_legacy = true;
  EXPECT_EQ(e.device_time_total(), 5);
  EXPECT_EQ(e.self_device_time_total(), -2);
}

TEST(FunctionEventTest, DevicesWithoutDeviceTimeAreAnError) {
  FunctionEvent e = Cuda("k", 0, 1);
  e.device_type = DeviceType::kHip;
  EXPECT_TRUE(e.CheckDeviceTime().ok());  // no device is used
  e.use_device = "hip";
  EXPECT_THAT(std::string(e.CheckDeviceTime().message()),
              HasSubstr("Expected device_type to be CUDA, PrivateUse1, MTIA, "
                        "HPU or XPU, but got DeviceType.HIP"));
  EXPECT_EQ(e.device_time_total(), 0);
}

TEST(FunctionEventTest, OnlyCpuEventsTakeKernelsAndRelatives) {
  FunctionEvent cpu = Cpu("op", 0, 1);
  FunctionEvent device = Cuda("k", 0, 1);
  EXPECT_TRUE(cpu.append_kernel({"k", 0, 1}).ok());
  EXPECT_TRUE(cpu.append_cpu_child(3, cpu).ok());
  EXPECT_TRUE(cpu.set_cpu_parent(4, cpu).ok());
  EXPECT_EQ(cpu.cpu_children, std::vector<size_t>{3});
  EXPECT_EQ(cpu.cpu_parent, 4u);
  for (const absl::Status& status :
       {device.append_kernel({"k", 0, 1}), device.append_cpu_child(0, cpu),
        cpu.append_cpu_child(0, device), device.set_cpu_parent(0, cpu),
        cpu.set_cpu_parent(0, device)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("Expected device_type to be CPU"));
  }
}

TEST(FunctionEventTest, Text) {
  std::vector<FunctionEvent> events = {Cpu("op", 0, 1500), Cpu("in", 1, 2)};
  events[0].id = 3;
  events[1].id = 4;
  events[0].cpu_children = {1};
  events[0].input_shapes = MakeShapes({{2, 3}});
  events[0].use_device = "cuda";
  events[0].overload_name = "out";
  EXPECT_EQ(
      ToString(events[0], events),
      "<FunctionEvent id=3 name=op overload_name=out "
      "device_type=DeviceType.CPU node_id=-1 cpu_time=1.500ms start_us=0.0 "
      "end_us=1500.0 cpu_children=[4] cuda_time=0.000us name=op thread=1 "
      "input_shapes=[[2, 3]] cpu_memory_usage=0 cuda_memory_usage=0 "
      "is_async=False is_remote=False seq_nr=-1 is_legacy=False>");
  EXPECT_THAT(ToString(events[1], events),
              HasSubstr("overload_name=None device_type"));
  EXPECT_THAT(ToString(events[1], events), HasSubstr("None_time=0.000us"));
}

}  // namespace
}  // namespace kymo
