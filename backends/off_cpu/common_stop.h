// common_stop.h - notices that this process and its child were stopped and
// continued together, as Ctrl-Z in a terminal and `fg` do.
//
//   CommonStop stop;
//   if (const auto stopped = stop.Look(pid, now_ns)) ...   // at each Poll
//
// Meanwhile nobody could look at the child's threads. The kernel tells a parent
// that its child went on, but not when it was stopped: so that counts only if
// this process did not look for a long time, which was then the stop.
//
// Threads: one. Cost: a system call, and a second one after each stop.
#ifndef KYMO_BACKENDS_OFF_CPU_COMMON_STOP_H_
#define KYMO_BACKENDS_OFF_CPU_COMMON_STOP_H_

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <cstdint>
#include <optional>

#include "profiler/base/time.h"

namespace kymo::off_cpu {

class CommonStop {
 public:
  // CLOCK_MONOTONIC.
  struct Gap {
    uint64_t begin_ns = 0;   // the last look before the stop
    uint64_t middle_ns = 0;  // within the stop
  };

  // A stop that ended since the last call.
  std::optional<Gap> Look(pid_t child, uint64_t now_ns) {
    if (last_ns_ != 0 && now_ns - last_ns_ >= kLeastNs) {
      gap_ = {last_ns_, last_ns_ + (now_ns - last_ns_) / 2};
      gap_end_ns_ = now_ns;
    }
    const bool is_first = last_ns_ == 0;
    last_ns_ = now_ns;
    // A call without WNOWAIT would also take a stop of a child that asks to be
    // traced (PTRACE_TRACEME). Whoever waits for the child must see that stop.
    const bool went_on = WentOn(child, WNOWAIT) && WentOn(child, 0);
    // The child may go on a moment after this process.
    if (is_first || !went_on || gap_end_ns_ == 0 ||
        now_ns - gap_end_ns_ > kLeastNs / 2) {
      return std::nullopt;
    }
    gap_end_ns_ = 0;
    return gap_;
  }

 private:
  static bool WentOn(pid_t child, int options) {
    siginfo_t info = {};
    return waitid(P_PID, static_cast<id_t>(child), &info,
                  WCONTINUED | WNOHANG | options) == 0 &&
           info.si_pid == child && info.si_code == CLD_CONTINUED;
  }

  // Twenty times the time between two looks: a stop by hand is longer.
  static constexpr uint64_t kLeastNs = 100 * kNsPerMs;

  uint64_t last_ns_ = 0;
  Gap gap_;
  uint64_t gap_end_ns_ = 0;  // 0: none
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_COMMON_STOP_H_
