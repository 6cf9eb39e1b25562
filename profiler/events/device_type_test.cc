#include "profiler/events/device_type.h"

#include <gtest/gtest.h>

namespace kymo {
namespace {

TEST(DeviceTypeTest, HeaderExample) {
  EXPECT_EQ(DeviceTypeText(DeviceType::kCuda), "DeviceType.CUDA");
  EXPECT_EQ(DeviceTypeFromName("DeviceType.CUDA"), DeviceType::kCuda);
}

TEST(DeviceTypeTest, NamesReadBackAndNumbersArePyTorchs) {
  for (int i = 0; i <= 20; ++i) {
    const auto type = static_cast<DeviceType>(i);
    EXPECT_EQ(DeviceTypeFromName(DeviceTypeName(type)), type) << i;
  }
  EXPECT_EQ(DeviceTypeName(DeviceType::kMtia), "MTIA");
  EXPECT_EQ(static_cast<int>(DeviceType::kPrivateUse1), 20);
}

TEST(DeviceTypeTest, OtherNamesAndNumbers) {
  EXPECT_EQ(DeviceTypeFromName("ORT"), DeviceType::kMaia);
  EXPECT_EQ(DeviceTypeFromName("cuda"), std::nullopt);
  EXPECT_EQ(DeviceTypeFromName(""), std::nullopt);
  EXPECT_EQ(DeviceTypeName(static_cast<DeviceType>(99)), "");
}

TEST(DeviceTypeTest, UsedDevicesHaveTheirTypes) {
  EXPECT_EQ(DeviceTypeOf("cuda"), DeviceType::kCuda);
  EXPECT_EQ(DeviceTypeOf("xpu"), DeviceType::kXpu);
  EXPECT_EQ(DeviceTypeOf("mtia"), DeviceType::kMtia);
  EXPECT_EQ(DeviceTypeOf("hpu"), DeviceType::kHpu);
  EXPECT_EQ(DeviceTypeOf("npu"), DeviceType::kPrivateUse1);
}

TEST(DeviceTypeTest, WhatCarriesTimeAndMemory) {
  EXPECT_TRUE(HasDeviceTime(DeviceType::kHpu));
  EXPECT_FALSE(HasDeviceTime(DeviceType::kCpu));
  EXPECT_FALSE(HasDeviceTime(DeviceType::kHip));
  EXPECT_TRUE(IsHostMemory(DeviceType::kIdeep));
  EXPECT_TRUE(IsDeviceMemory(DeviceType::kHip));
  EXPECT_FALSE(IsDeviceMemory(DeviceType::kHpu));
}

}  // namespace
}  // namespace kymo
