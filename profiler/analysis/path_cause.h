// path_cause.h - the causes of the steps of a critical path; see
// critical_path.h.
#ifndef KYMO_PROFILER_ANALYSIS_PATH_CAUSE_H_
#define KYMO_PROFILER_ANALYSIS_PATH_CAUSE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kymo::analysis {

enum class PathCause : uint8_t {
  kHost,
  kKernel,
  kLaunch,
  kQueue,
  kDependency,
};

// "host", "kernel", "launch", "queue", "dependency".
constexpr std::string_view PathCauseName(PathCause cause) noexcept {
  constexpr std::string_view kNames[] = {"host", "kernel", "launch", "queue",
                                         "dependency"};
  return kNames[static_cast<size_t>(cause)];
}

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_PATH_CAUSE_H_
