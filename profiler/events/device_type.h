// device_type.h - kinds of devices, with PyTorch's numbers and names.
//
//   DeviceTypeName(DeviceType::kCuda)       // "CUDA"
//   DeviceTypeText(DeviceType::kCuda)       // "DeviceType.CUDA"
//   DeviceTypeFromName("DeviceType.CUDA")   // DeviceType::kCuda
//
// The numbers stand in traces ("Device Type"); they never change.
#ifndef KYMO_PROFILER_EVENTS_DEVICE_TYPE_H_
#define KYMO_PROFILER_EVENTS_DEVICE_TYPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kymo {

enum class DeviceType : uint8_t {
  kCpu = 0,
  kCuda = 1,
  kMkldnn = 2,
  kOpengl = 3,
  kOpencl = 4,
  kIdeep = 5,
  kHip = 6,
  kFpga = 7,
  kMaia = 8,
  kXla = 9,
  kVulkan = 10,
  kMetal = 11,
  kXpu = 12,
  kMps = 13,
  kMeta = 14,
  kHpu = 15,
  kVe = 16,
  kLazy = 17,
  kIpu = 18,
  kMtia = 19,
  kPrivateUse1 = 20,
  kCount,
};

// "CPU"; empty for a number that is none of the above. Lives for ever.
std::string_view DeviceTypeName(DeviceType type) noexcept;

// "DeviceType.CPU", as PyTorch prints it.
std::string DeviceTypeText(DeviceType type);

// Of either text, and of "ORT", the older name of MAIA.
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
