#include "profiler/analysis/memory/memory_device.h"

#include <gtest/gtest.h>

namespace kymo::analysis {
namespace {

TEST(MemoryDeviceTest, NamesReadBack) {
  EXPECT_EQ(ParseMemoryDevice("cuda:1"),
            (MemoryDeviceId{DeviceType::kCuda, 1}));
  EXPECT_EQ(MemoryDeviceName({DeviceType::kCuda, 1}), "cuda:1");
  EXPECT_EQ(MemoryDeviceName({DeviceType::kCpu}), "cpu");
  EXPECT_EQ(ParseMemoryDevice("cpu"), MemoryDeviceId{});
  EXPECT_EQ(ParseMemoryDevice("PrivateUse1:0"),
            (MemoryDeviceId{DeviceType::kPrivateUse1, 0}));
}

TEST(MemoryDeviceTest, WithoutIndexItIsTheFirstDevice) {
  EXPECT_EQ(ParseMemoryDevice("CUDA"), (MemoryDeviceId{DeviceType::kCuda, 0}));
}

TEST(MemoryDeviceTest, OtherTextIsNoDevice) {
  for (const char* name : {"", "gpu", ":0", "cuda:", "cuda:x", "cuda:1x",
                           "cuda:-1", "cuda:128", "cuda :0"}) {
    EXPECT_EQ(ParseMemoryDevice(name), std::nullopt) << name;
  }
}

TEST(MemoryDeviceTest, KindsOfNoNameKeepTheirNumber) {
  EXPECT_EQ(MemoryDeviceName({static_cast<DeviceType>(77), 0}), "device77:0");
}

TEST(MemoryDeviceTest, TheIndexHasSevenBitsAndTheHostNone) {
  EXPECT_EQ(ParseMemoryDevice("cuda:127"),
            (MemoryDeviceId{DeviceType::kCuda, 127}));
  EXPECT_EQ(ParseMemoryDevice("cuda:0"),
            (MemoryDeviceId{DeviceType::kCuda, 0}));
  EXPECT_EQ(ParseMemoryDevice("cpu:3"), (MemoryDeviceId{DeviceType::kCpu, 3}));
  EXPECT_EQ(ParseMemoryDevice("xpu"), (MemoryDeviceId{DeviceType::kXpu, 0}));
  EXPECT_EQ(MemoryDeviceName({DeviceType::kCuda, 0}), "cuda:0");
  EXPECT_EQ(MemoryDeviceName({DeviceType::kCuda, -1}), "cuda");
  EXPECT_EQ(MemoryDeviceName({DeviceType::kPrivateUse1, 2}), "privateuse1:2");
}

}  // namespace
}  // namespace kymo::analysis
