// device_json.h - writes properties of devices as Kineto's `deviceProperties`.
//
//   std::vector<DeviceProperties> devices = ...;
//   rows.AddMetadata("deviceProperties", DevicePropertiesJson(devices));
//   // [{"id":0,"name":"Tesla V100","totalGlobalMem":16914055168,
//   //   "computeMajor":7,"computeMinor":0,"numSms":80}]
#ifndef KYMO_IMPORTERS_SQLITE_DEVICE_JSON_H_
#define KYMO_IMPORTERS_SQLITE_DEVICE_JSON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kymo::sqlite {

struct DeviceProperties {
  int64_t id = 0;
  std::string name;
  std::optional<int64_t> memory_bytes;
  std::optional<int64_t> compute_major;
  std::optional<int64_t> compute_minor;
  std::optional<int64_t> multiprocessors;
};

// Unknown properties are left out. The text is ASCII.
std::string DevicePropertiesJson(const std::vector<DeviceProperties>& devices);

}  // namespace kymo::sqlite

#endif  // KYMO_IMPORTERS_SQLITE_DEVICE_JSON_H_
