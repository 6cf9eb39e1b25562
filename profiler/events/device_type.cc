#include "profiler/events/device_type.h"

#include <cstdint>

namespace kymo {
namespace {

constexpr std::string_view kTextPrefix = "DeviceType.";

}  // namespace

std::string DeviceTypeText(DeviceType type) {
  return std::string(kTextPrefix).append(DeviceTypeName(type));
}

std::optional<DeviceType> DeviceTypeFromName(std::string_view name) noexcept {
  if (name.starts_with(kTextPrefix)) name.remove_prefix(kTextPrefix.size());
  if (name == "ORT") return DeviceType::kMaia;
  for (uint8_t i = 0; i < static_cast<uint8_t>(DeviceType::kCount); ++i) {
    const auto type = static_cast<DeviceType>(i);
    if (DeviceTypeName(type) == name) return type;
  }
  return std::nullopt;
}

DeviceType DeviceTypeOf(std::string_view use_device) noexcept {
  if (use_device == "cuda") return DeviceType::kCuda;
  if (use_device == "xpu") return DeviceType::kXpu;
  if (use_device == "mtia") return DeviceType::kMtia;
  if (use_device == "hpu") return DeviceType::kHpu;
  return DeviceType::kPrivateUse1;
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
