#include "profiler/model/activity_type.h"

#include <array>
#include <cstddef>

namespace kymo::model {
namespace {

constexpr std::array<std::string_view,
                     static_cast<size_t>(ActivityType::kCount)>
    kNames = {
        "cpu_op",          "user_annotation", "gpu_user_annotation",
        "gpu_memcpy",      "gpu_memset",      "kernel",
        "cuda_runtime",    "cuda_driver",     "cpu_instant_event",
        "python_function", "overhead",        "cuda_sync",
        "cuda_event",      "collective_comm", "cpu_sample",
        "nvtx_range",      "itt_task",
};

}  // namespace

std::string_view ActivityTypeName(ActivityType type) noexcept {
  const size_t index = static_cast<size_t>(type);
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::optional<ActivityType> ParseActivityType(std::string_view name) noexcept {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<ActivityType>(i);
  }
  return std::nullopt;
}

}  // namespace kymo::model
