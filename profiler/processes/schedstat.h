// schedstat.h - what the kernel's scheduler counts of a thread.
//
//   if (const auto stat = ReadSchedStat(pid, tid)) Use(stat->waited_ns);
//
// /proc/PID/task/TID/schedstat: any user may read it, and the thread does not
// notice. The kernel updates the time on a CPU at ticks and switches.
#ifndef KYMO_PROFILER_PROCESSES_SCHEDSTAT_H_
#define KYMO_PROFILER_PROCESSES_SCHEDSTAT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "profiler/base/time.h"

namespace kymo::processes {

struct SchedStat {
  DurationNs on_cpu_ns = 0;
  DurationNs waited_ns = 0;  // runnable, without a CPU
  int64_t times_on_cpu = 0;  // how often it got a CPU
};

// Nothing if the text is not as the kernel writes it: three numbers.
std::optional<SchedStat> ParseSchedStat(std::string_view text);

// Nothing if the thread has ended. A few microseconds.
std::optional<SchedStat> ReadSchedStat(int64_t pid, int64_t tid);

// Whether the thread lives, or has ended and is not reaped.
bool ThreadExists(int64_t pid, int64_t tid);

}  // namespace kymo::processes

#endif  // KYMO_PROFILER_PROCESSES_SCHEDSTAT_H_
