// memory_device.h - devices and the names that PyTorch gives them.
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

// The device that memory belongs to. The host has no index.
struct MemoryDeviceId {
  DeviceType type = DeviceType::kCpu;
  int index = -1;

  friend bool operator==(const MemoryDeviceId&,
                         const MemoryDeviceId&) = default;
};

// "cuda:1" or "cpu", in small letters; an index below 0 is left out.
std::string MemoryDeviceName(MemoryDeviceId device);

// Reads such a name, in small or capital letters. A device without an index is
// the first one. Nothing if the kind is unknown, or the index is not a number
// from 0 to 127.
std::optional<MemoryDeviceId> ParseMemoryDevice(std::string_view name);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_DEVICE_H_
