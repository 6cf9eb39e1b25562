#include "backends/cupti/decode/device_metadata.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "backends/cupti/decode/activity_names.h"
#include "profiler/text/json_text.h"

namespace kymo::cupti {
namespace {

std::string StreamsJson(const std::set<DecodedLog::Stream>& streams) {
  std::string list;
  for (const DecodedLog::Stream& stream : streams) {
    absl::StrAppend(
        &list, list.empty() ? "[" : ", ", "{\"process\": ", stream.pid,
        ", \"device\": ", stream.device, ", \"context\": ", stream.context,
        ", \"stream\": ", stream.id, ", \"priority\": ", stream.priority,
        ", \"kind\": ", json::JsonString(StreamKind(stream.flag)), "}");
  }
  return list + "]";
}

void Add(std::string_view key, const std::string& json,
         model::TraceShard& shard) {
  shard.metadata.push_back(
      {shard.strings.Intern(key), shard.strings.Intern(json)});
}

}  // namespace

std::string DeviceJson(const DecodedLog::Device& device) {
  const DeviceRecord& d = device.record;
  return absl::StrCat(
      "{\"id\": ", d.id, ", \"name\": ", json::JsonString(device.name),
      ", \"totalGlobalMem\": ", d.memory_bytes, ", \"computeMajor\": ", d.major,
      ", \"computeMinor\": ", d.minor,
      ", \"maxThreadsPerBlock\": ", d.block_threads,
      ", \"maxThreadsPerMultiprocessor\": ",
      uint64_t{d.max_warps} * d.warp_size,
      ", \"regsPerBlock\": ", d.block_registers,
      ", \"warpSize\": ", d.warp_size,
      ", \"sharedMemPerBlock\": ", d.block_shared,
      ", \"numSms\": ", d.multiprocessors,
      ", \"regsPerMultiprocessor\": ", d.max_registers,
      ", \"sharedMemPerMultiprocessor\": ", d.max_shared,
      ", \"clockRate\": ", d.core_clock,
      ", \"memoryBandwidth\": ", d.memory_bandwidth * 1'000, "}");
}

void AddDeviceMetadata(std::span<const DecodedLog> logs, uint32_t cupti_version,
                       model::TraceShard& shard) {
  if (logs.empty()) return;
  std::map<uint32_t, DecodedLog::Device> devices;
  DurationNs error_ns = 0;
  DurationNs early_ns = 0;
  DurationNs late_ns = 0;
  std::set<DecodedLog::Stream> streams;
  std::set<std::string> refused;
  for (const DecodedLog& log : logs) {
    devices.insert(log.devices.begin(), log.devices.end());
    streams.insert(log.streams.begin(), log.streams.end());
    early_ns = std::max(early_ns, log.early_ns);
    late_ns = std::max(late_ns, log.late_ns);
    error_ns =
        std::max({error_ns, log.clock_error_ns, log.early_ns, log.late_ns});
    refused.insert(log.refused.begin(), log.refused.end());
  }
  std::string json = "[";
  for (const auto& [id, device] : devices) {
    absl::StrAppend(&json, json.size() == 1 ? "" : ", ", DeviceJson(device));
  }
  Add("deviceProperties", json + "]", shard);
  if (!streams.empty()) Add("cuda_streams", StreamsJson(streams), shard);
  Add("cupti_version", absl::StrCat(cupti_version), shard);
  Add("cuda_clock_error_ns", absl::StrCat(error_ns), shard);
  Add("cuda_early_ns", absl::StrCat(early_ns), shard);
  Add("cuda_late_ns", absl::StrCat(late_ns), shard);
  if (refused.empty()) return;
  std::string list;
  for (const std::string& what : refused) {
    absl::StrAppend(&list, list.empty() ? "[" : ", ", json::JsonString(what));
  }
  Add("cuda_not_recorded", list + "]", shard);
}

}  // namespace kymo::cupti
