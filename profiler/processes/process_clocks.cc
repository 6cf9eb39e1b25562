#include "profiler/processes/process_clocks.h"

#include <time.h>

#include <optional>

namespace kymo::processes {
namespace {

// Nothing if the process is gone.
std::optional<DurationNs> ClockOf(pid_t pid) {
  clockid_t clock;
  timespec time;
  if (clock_getcpuclockid(pid, &clock) != 0 ||
      clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

}  // namespace

void ProcessClocks::AddRunning(pid_t pid) {
  if (const auto now_ns = ClockOf(pid)) read_ns_.try_emplace(pid, *now_ns);
}

void ProcessClocks::AddNew(pid_t pid) { read_ns_.try_emplace(pid, 0); }

void ProcessClocks::Forget(pid_t pid) {
  Read(pid);
  read_ns_.erase(pid);
}

void ProcessClocks::Read() {
  for (const auto& [pid, read_ns] : read_ns_) Read(pid);
}

void ProcessClocks::Read(pid_t pid) {
  const auto known = read_ns_.find(pid);
  if (known == read_ns_.end()) return;
  const auto now_ns = ClockOf(pid);
  // A clock that went back is another process's, of the same number.
  if (!now_ns || *now_ns < known->second) return;
  total_ns_ += *now_ns - known->second;
  known->second = *now_ns;
}

}  // namespace kymo::processes
