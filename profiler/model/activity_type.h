// activity_type.h - what kind of thing an event is, in Kineto's words.
//
// The text of a type is the `cat` of Kineto's Chrome traces; types of Kymo's
// own (cpu_sample, cpu_counter, ...) follow the same form.
#ifndef KYMO_PROFILER_MODEL_ACTIVITY_TYPE_H_
#define KYMO_PROFILER_MODEL_ACTIVITY_TYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "profiler/base/record_scope.h"

namespace kymo::model {

enum class ActivityType : uint8_t {
  kCpuOp = 0,
  kUserAnnotation,
  kGpuUserAnnotation,
  kGpuMemcpy,
  kGpuMemset,
  kConcurrentKernel,  // "kernel"
  kCudaRuntime,
  kCudaDriver,
  kCpuInstantEvent,
  kPythonFunction,
  kOverhead,
  kCudaSync,
  kCudaEvent,
  kCollectiveComm,
  kCpuSample,  // Kymo: where a sampled thread was
  kNvtxRange,  // Kymo: a range captured from NVTX
  kIttTask,    // Kymo: a task captured from ITT
  kCount,
};

// Kineto's category text; lives forever.
std::string_view ActivityTypeName(ActivityType type) noexcept;
std::optional<ActivityType> ParseActivityType(std::string_view name) noexcept;

using kymo::RecordScope;

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_ACTIVITY_TYPE_H_
