// device_type.h - what the kinds of devices mean for events.
//
//   Print(kymo::DeviceTypeText(kymo::DeviceType::kCuda));  // "DeviceType.CUDA"
//   const std::optional<kymo::DeviceType> type =
//       kymo::DeviceTypeFromName("DeviceType.CUDA");       // kCuda
//
// Threads: any. Errors: none.
#ifndef KYMO_PROFILER_EVENTS_DEVICE_TYPE_H_
#define KYMO_PROFILER_EVENTS_DEVICE_TYPE_H_

#include <optional>
#include <string>
#include <string_view>

#include "profiler/base/device_type.h"

namespace kymo {

// The text that PyTorch prints, such as "DeviceType.CPU".
std::string DeviceTypeText(DeviceType type);

// The kind of device for that text, or for the name alone. "ORT" is an older
// name of MAIA. Nothing for an unknown name.
std::optional<DeviceType> DeviceTypeFromName(std::string_view name) noexcept;

// The kind of device that `use_device` names: "cuda", "xpu", "mtia" or "hpu".
// Any other name is that of a custom device, kPrivateUse1.
DeviceType DeviceTypeOf(std::string_view use_device) noexcept;

// Whether events of this kind of device carry device time. True for CUDA,
// PrivateUse1, MTIA, HPU and XPU.
bool HasDeviceTime(DeviceType type) noexcept;

// Whether memory of this kind of device counts as the host's (CPU, MKLDNN,
// IDEEP) or as a device's (CUDA, PrivateUse1, HIP, XPU). Other kinds count as
// neither.
bool IsHostMemory(DeviceType type) noexcept;
bool IsDeviceMemory(DeviceType type) noexcept;

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_DEVICE_TYPE_H_
