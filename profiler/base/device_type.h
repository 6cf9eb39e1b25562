// device_type.h - kinds of devices, with PyTorch's numbers and names.
//
//   DeviceTypeName(DeviceType::kCuda)   // "CUDA"
//
// The numbers stand in records and traces ("Device Type"); they never change.
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

// "CPU"; empty for a number that is none of the above. Lives for ever.
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
