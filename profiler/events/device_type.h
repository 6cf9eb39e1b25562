// device_type.h - what the kinds of devices mean for events.
//
//   DeviceTypeText(DeviceType::kCuda)       // "DeviceType.CUDA"
//   DeviceTypeFromName("DeviceType.CUDA")   // DeviceType::kCuda
#ifndef KYMO_PROFILER_EVENTS_DEVICE_TYPE_H_
#define KYMO_PROFILER_EVENTS_DEVICE_TYPE_H_

#include <optional>
#include <string>
#include <string_view>

#include "profiler/base/device_type.h"

namespace kymo {

// "DeviceType.CPU", as PyTorch prints it.
std::string DeviceTypeText(DeviceType type);

// Of that text or of the name alone; "ORT" is the older name of MAIA.
std::optional<DeviceType> DeviceTypeFromName(std::string_view name) noexcept;

// Whether events of this kind of device carry device time: CUDA, PrivateUse1,
// MTIA, HPU and XPU.
bool HasDeviceTime(DeviceType type) noexcept;

// Whose memory counts as the host's (CPU, MKLDNN, IDEEP) or as a device's
// (CUDA, PrivateUse1, HIP, XPU). Memory of other kinds counts as neither.
bool IsHostMemory(DeviceType type) noexcept;
bool IsDeviceMemory(DeviceType type) noexcept;

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_DEVICE_TYPE_H_
