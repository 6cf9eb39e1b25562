#include "exporters/tensorboard/xspace/device_properties.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/tensorboard/test_xspace.h"
#include "tests/support/test_trace.h"

namespace kymo::tensorboard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The statistics of the plane of device 1.
std::vector<std::string> Stats(std::string_view json) {
  TestTrace t;
  t.AddRange(t.AddStream(1, 7), "sgemm", 0, 10,
             model::ActivityType::kConcurrentKernel);
  t.AddMetadata("deviceProperties", json);
  const XSpaceView view(ExportXSpace(std::move(t).Build()));
  const schema::XPlane& plane = view.Plane("/device:GPU:1");
  std::vector<std::string> texts;
  for (const schema::XStat& stat : plane.stats()) {
    texts.push_back(XSpaceView::Text(plane, stat));
  }
  return texts;
}

TEST(DevicePropertiesTest, AreStatisticsOfTheDevicesPlane) {
  EXPECT_THAT(
      Stats(R"([{"id": 0, "name": "Another"},
                {"id": 1, "name": "NVIDIA A100", "totalGlobalMem": 85899345920,
                 "computeMajor": 8, "computeMinor": 0, "warpSize": 32,
                 "numSms": 108, "clockRate": 1410000,
                 "memoryBandwidth": 1555200000000}])"),
      ElementsAre("gpu_device_name=NVIDIA A100", "device_vendor=Nvidia",
                  "memory_size=85899345920u", "compute_cap_major=8u",
                  "compute_cap_minor=0u", "core_count=108u",
                  "clock_rate=1410000u", "memory_bandwidth=1555200000000u"));
}

TEST(DevicePropertiesTest, WhatIsNotKnownIsLeftOut) {
  EXPECT_THAT(Stats(R"([{"id": 1, "numSms": 4}])"),
              ElementsAre("core_count=4u"));
  EXPECT_THAT(Stats(R"([{"id": 1, "name": 7, "numSms": "four",
                         "clockRate": -1, "totalGlobalMem": 1.5}])"),
              IsEmpty());
}

TEST(DevicePropertiesTest, OtherMetadataAreNoProperties) {
  EXPECT_THAT(Stats("[]"), IsEmpty());
  EXPECT_THAT(Stats(""), IsEmpty());
  EXPECT_THAT(Stats("{\"id\": 1, \"numSms\": 4}"), IsEmpty());
  EXPECT_THAT(Stats("[1, {\"numSms\": 4}, [{\"id\": 1}]]"), IsEmpty());
  EXPECT_THAT(Stats("[{\"id\": 0, \"numSms\": 4}]"), IsEmpty());
  EXPECT_THAT(Stats("no JSON"), IsEmpty());
}

}  // namespace
}  // namespace kymo::tensorboard
