#include "backends/cupti/decode/device_metadata.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace kymo::cupti {
namespace {

std::map<std::string, std::string> MetadataOf(const model::TraceShard& shard) {
  std::map<std::string, std::string> metadata;
  for (const model::Metadata& entry : shard.metadata) {
    metadata[std::string(shard.strings.Get(entry.key))] =
        shard.strings.Get(entry.json_value);
  }
  return metadata;
}

bool Has(const std::string& json, const std::string& member) {
  return json.find(member) != std::string::npos;
}

// CUPTI's numbers for some devices. The bandwidth is twice the memory's clock
// (kHz) times the bytes of its bus. Clocks and bits of the buses are 1,215,000
// and 5120, 2,619,000 and 5120, 3,201,000 and 6144.
struct Figures {
  const char* name;
  uint32_t core_clock;
  uint64_t memory_bandwidth;
  const char* clock_json;
  const char* bandwidth_json;
};

TEST(DeviceMetadataTest, ClocksAreKilohertzAndBandwidthsBytesPerSecond) {
  constexpr Figures kDevices[] = {
      {"NVIDIA A100-SXM4-40GB", 1'410'000, 2 * 1'215'000ull * 5120 / 8,
       "\"clockRate\": 1410000,", "\"memoryBandwidth\": 1555200000000}"},
      {"NVIDIA H100 80GB HBM3", 1'980'000, 2 * 2'619'000ull * 5120 / 8,
       "\"clockRate\": 1980000,", "\"memoryBandwidth\": 3352320000000}"},
      {"NVIDIA H200", 1'980'000, 2 * 3'201'000ull * 6144 / 8,
       "\"clockRate\": 1980000,", "\"memoryBandwidth\": 4916736000000}"},
  };
  for (const Figures& figures : kDevices) {
    DecodedLog::Device device;
    device.name = figures.name;
    device.record.core_clock = figures.core_clock;
    device.record.memory_bandwidth = figures.memory_bandwidth;
    const std::string json = DeviceJson(device);
    EXPECT_TRUE(Has(json, figures.clock_json)) << json;
    EXPECT_TRUE(Has(json, figures.bandwidth_json)) << json;
  }
}

TEST(DeviceMetadataTest, NamesStayJsonWhateverTheySay) {
  DecodedLog::Device device;
  device.name = "\u03bb \"b\\ \n\xff";
  EXPECT_TRUE(
      Has(DeviceJson(device), "\"name\": \"\u03bb \\\"b\\\\ \\n\ufffd\""))
      << DeviceJson(device);
}

TEST(DeviceMetadataTest, DevicesOfSeveralProcessesAreToldOnceAndTheWorstClock) {
  std::vector<DecodedLog> logs(2);
  logs[0].devices[1].name = "one";
  logs[0].clock_error_ns = 5;
  logs[1].devices[0].name = "zero";
  logs[1].devices[1].name = "one";
  logs[1].devices[1].record.id = logs[0].devices[1].record.id = 1;
  logs[1].clock_error_ns = 3;
  logs[1].early_ns = 7;
  logs[0].late_ns = 9;
  logs[0].refused = logs[1].refused = {"unified memory: no (28)"};
  model::TraceShard shard;
  AddDeviceMetadata(logs, 130'001, shard);
  const auto metadata = MetadataOf(shard);
  const std::string& list = metadata.at("deviceProperties");
  EXPECT_LT(list.find("\"zero\""), list.find("\"one\"")) << list;
  EXPECT_EQ(list.find("\"one\""), list.rfind("\"one\"")) << list;
  EXPECT_EQ(metadata.at("cupti_version"), "130001");
  EXPECT_EQ(metadata.at("cuda_clock_error_ns"), "9");
  EXPECT_EQ(metadata.at("cuda_early_ns"), "7");
  EXPECT_EQ(metadata.at("cuda_late_ns"), "9");
  EXPECT_EQ(metadata.at("cuda_not_recorded"), "[\"unified memory: no (28)\"]");
}

TEST(DeviceMetadataTest, StreamsHavePriorityAndKind) {
  std::vector<DecodedLog> logs(1);
  logs[0].streams.insert({.pid = 42,
                          .device = 1,
                          .context = 2,
                          .id = 13,
                          .priority = -5,
                          .flag = 2});
  model::TraceShard shard;
  AddDeviceMetadata(logs, 130'001, shard);
  EXPECT_EQ(MetadataOf(shard).at("cuda_streams"),
            "[{\"process\": 42, \"device\": 1, \"context\": 2, \"stream\": 13, "
            "\"priority\": -5, \"kind\": \"non-blocking\"}]");
}

TEST(DeviceMetadataTest, WithoutALogThereIsNothingToSay) {
  model::TraceShard shard;
  AddDeviceMetadata({}, 130'001, shard);
  EXPECT_TRUE(shard.metadata.empty());
}

}  // namespace
}  // namespace kymo::cupti
