// own_threads.h - the threads that Kymo starts in programs, by name.
//
//   prctl(PR_SET_NAME, kDoorThread);
//   if (IsThreadOfKymo(name)) continue;   // not the program's
//
// Who records from outside knows them by nothing else. They record nothing of
// their own: SetThreadPaused (host/host.h).
#ifndef KYMO_PROFILER_RECORD_OWN_THREADS_H_
#define KYMO_PROFILER_RECORD_OWN_THREADS_H_

#include <string_view>

namespace kymo::record {

inline constexpr char kDoorThread[] = "kymo-door";
inline constexpr char kOnDemandThread[] = "kymo-demand";
inline constexpr char kSamplingThread[] = "kymo-sampling";
inline constexpr char kOffCpuThread[] = "kymo-off-cpu";
inline constexpr char kHostThread[] = "kymo-host";
inline constexpr char kStopThread[] = "kymo-stop";

constexpr bool IsThreadOfKymo(std::string_view name) noexcept {
  for (const std::string_view own :
       {kDoorThread + 0, kOnDemandThread + 0, kSamplingThread + 0,
        kOffCpuThread + 0, kHostThread + 0, kStopThread + 0}) {
    if (name == own) return true;
  }
  return false;
}

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_OWN_THREADS_H_
