#include "importers/sqlite/device_json.h"

#include "gtest/gtest.h"

namespace kymo::sqlite {
namespace {

TEST(DeviceJsonTest, WritesWhatIsKnown) {
  EXPECT_EQ(DevicePropertiesJson({}), "[]");
  EXPECT_EQ(DevicePropertiesJson({{.id = 0,
                                   .name = "a \"b\"",
                                   .memory_bytes = 16,
                                   .compute_major = 7,
                                   .compute_minor = 0,
                                   .multiprocessors = 80},
                                  {.id = 1}}),
            R"([{"id": 0, "name": "a \"b\"", "totalGlobalMem": 16, )"
            R"("computeMajor": 7, "computeMinor": 0, "numSms": 80}, )"
            R"({"id": 1}])");
}

}  // namespace
}  // namespace kymo::sqlite
