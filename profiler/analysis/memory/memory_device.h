// memory_device.h - devices by the names that PyTorch gives them.
//
//   ParseMemoryDevice("cuda:1")          // {DeviceType::kCuda, 1}
//   MemoryDeviceName({DeviceType::kCpu}) // "cpu"
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_DEVICE_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_DEVICE_H_

#include <optional>
#include <string>
#include <string_view>

#include "profiler/base/device_type.h"

namespace kymo::analysis {

// Whose memory; the host's has no index.
struct MemoryDeviceId {
  DeviceType type = DeviceType::kCpu;
  int index = -1;

  friend bool operator==(const MemoryDeviceId&,
                         const MemoryDeviceId&) = default;
};

// "cuda:1", "cpu"; in small letters, without an index below 0.
std::string MemoryDeviceName(MemoryDeviceId device);

// Of such a name, in any letters. A device without an index is the first one.
// Nothing where the kind is not known or the index is no number of 0 to 127.
std::optional<MemoryDeviceId> ParseMemoryDevice(std::string_view name);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_DEVICE_H_
