// device_type.h - kinds of devices, with PyTorch's numbers and names.
//
//   Print(kymo::DeviceTypeName(kymo::DeviceType::kCuda));   // "CUDA"
//
// Records and traces ("Device Type") hold the numbers, so they never change.
#ifndef KYMO_PROFILER_BASE_DEVICE_TYPE_H_
#define KYMO_PROFILER_BASE_DEVICE_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
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

// The name, such as "CPU"; empty for a number without a name. The text is
// static.
constexpr std::string_view DeviceTypeName(DeviceType type) noexcept {
  constexpr std::string_view kNames[] = {
      "CPU",  "CUDA", "MKLDNN", "OPENGL", "OPENCL", "IDEEP", "HIP",
      "FPGA", "MAIA", "XLA",    "Vulkan", "Metal",  "XPU",   "MPS",
      "Meta", "HPU",  "VE",     "Lazy",   "IPU",    "MTIA",  "PrivateUse1",
  };
  static_assert(std::size(kNames) == static_cast<size_t>(DeviceType::kCount));
  return type < DeviceType::kCount ? kNames[static_cast<size_t>(type)] : "";
}

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_DEVICE_TYPE_H_
