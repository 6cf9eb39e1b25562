#include "profiler/events/device_type.h"

#include <cstddef>
#include <iterator>

namespace kymo {
namespace {

constexpr std::string_view kNames[] = {
    "CPU",  "CUDA", "MKLDNN", "OPENGL", "OPENCL", "IDEEP", "HIP",
    "FPGA", "MAIA", "XLA",    "Vulkan", "Metal",  "XPU",   "MPS",
    "Meta", "HPU",  "VE",     "Lazy",   "IPU",    "MTIA",  "PrivateUse1",
};
static_assert(std::size(kNames) == static_cast<size_t>(DeviceType::kCount));

constexpr std::string_view kTextPrefix = "DeviceType.";

}  // namespace

std::string_view DeviceTypeName(DeviceType type) noexcept {
  const size_t index = static_cast<size_t>(type);
  return index < std::size(kNames) ? kNames[index] : std::string_view();
}

std::string DeviceTypeText(DeviceType type) {
  return std::string(kTextPrefix).append(DeviceTypeName(type));
}

std::optional<DeviceType> DeviceTypeFromName(std::string_view name) noexcept {
  if (name.starts_with(kTextPrefix)) name.remove_prefix(kTextPrefix.size());
  if (name == "ORT") return DeviceType::kMaia;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<DeviceType>(i);
  }
  return std::nullopt;
}

bool HasDeviceTime(DeviceType type) noexcept {
  switch (type) {
    case DeviceType::kCuda:
    case DeviceType::kPrivateUse1:
    case DeviceType::kMtia:
    case DeviceType::kHpu:
    case DeviceType::kXpu:
      return true;
    default:
      return false;
  }
}

bool IsHostMemory(DeviceType type) noexcept {
  return type == DeviceType::kCpu || type == DeviceType::kMkldnn ||
         type == DeviceType::kIdeep;
}

bool IsDeviceMemory(DeviceType type) noexcept {
  return type == DeviceType::kCuda || type == DeviceType::kPrivateUse1 ||
         type == DeviceType::kHip || type == DeviceType::kXpu;
}

}  // namespace kymo
