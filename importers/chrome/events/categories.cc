#include "importers/chrome/events/categories.h"

#include <optional>

namespace kymo::chrome_import {
namespace {

using model::ActivityType;

struct Alias {
  std::string_view text;
  ActivityType type;
};

constexpr Alias kAliases[] = {
    {"Operator", ActivityType::kCpuOp},
    {"Runtime", ActivityType::kCudaRuntime},
    {"Kernel", ActivityType::kConcurrentKernel},
    {"Memcpy", ActivityType::kGpuMemcpy},
    {"Memset", ActivityType::kGpuMemset},
    {"glow_runtime", ActivityType::kCudaRuntime},
    {"mtia_runtime", ActivityType::kCudaRuntime},
    {"xpu_runtime", ActivityType::kCudaRuntime},
    {"privateuse1_runtime", ActivityType::kCudaRuntime},
    {"xpu_driver", ActivityType::kCudaDriver},
    {"privateuse1_driver", ActivityType::kCudaDriver},
    {"mtia_ccp_events", ActivityType::kConcurrentKernel},
};

}  // namespace

Category FindCategory(std::string_view text) {
  if (text.empty()) return {};
  if (const std::optional<ActivityType> type = model::ParseActivityType(text)) {
    return {.type = *type};
  }
  for (const Alias& alias : kAliases) {
    if (alias.text == text) return {.type = alias.type, .is_exact = false};
  }
  return {.type = ActivityType::kCpuOp, .is_exact = false};
}

}  // namespace kymo::chrome_import
