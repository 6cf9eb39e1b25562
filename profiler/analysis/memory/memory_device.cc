#include "profiler/analysis/memory/memory_device.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

namespace kymo::analysis {
namespace {

// ASCII only, as the names are; no locale.
std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

}  // namespace

std::string MemoryDeviceName(MemoryDeviceId device) {
  std::string name = Lower(DeviceTypeName(device.type));
  if (name.empty()) {
    name = "device" + std::to_string(static_cast<int>(device.type));
  }
  if (device.index >= 0) name += ":" + std::to_string(device.index);
  return name;
}

std::optional<MemoryDeviceId> ParseMemoryDevice(std::string_view name) {
  const std::string kind = Lower(name.substr(0, name.find(':')));
  MemoryDeviceId device{DeviceType::kCount};
  for (uint8_t i = 0; i < static_cast<uint8_t>(DeviceType::kCount); ++i) {
    const auto type = static_cast<DeviceType>(i);
    if (Lower(DeviceTypeName(type)) == kind) device.type = type;
  }
  if (device.type == DeviceType::kCount) return std::nullopt;
  if (kind.size() == name.size()) {
    device.index = device.type == DeviceType::kCpu ? -1 : 0;
    return device;
  }
  const std::string_view index = name.substr(kind.size() + 1);
  const char* const end = index.data() + index.size();
  const auto result = std::from_chars(index.data(), end, device.index);
  if (result.ec != std::errc() || result.ptr != end || device.index < 0 ||
      device.index > std::numeric_limits<int8_t>::max()) {
    return std::nullopt;
  }
  return device;
}

}  // namespace kymo::analysis
