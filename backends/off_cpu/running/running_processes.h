// running_processes.h - has perf events record the switches of processes that
// run already.
//
//   KYMO_ASSIGN_OR_RETURN(WatchedProcesses watched, WatchProcesses(target));
//   for (const auto& [tid, pid] : watched.threads) Begin(pid, tid);
//   ... read the records of watched.events ...
//
// Threads: one.
#ifndef KYMO_BACKENDS_OFF_CPU_RUNNING_RUNNING_PROCESSES_H_
#define KYMO_BACKENDS_OFF_CPU_RUNNING_RUNNING_PROCESSES_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/sampling/perf_events.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::off_cpu {

struct WatchedProcesses {
  std::unique_ptr<sampling::PerfEvents> events;
  // They record all that the machine runs.
  bool of_all_processes = false;
  uint64_t time_ns = 0;                  // older records were dropped
  std::map<uint32_t, uint32_t> threads;  // and their processes, at that time
  std::map<pid_t, pid_t> parents;        // of the processes
  // Some threads may have two events (own/repeated_records.h).
  bool may_repeat = false;
};

// Whether that is permitted, and if not, why and what helps.
absl::Status CheckProcesses(const RunningTarget& target);

// The errors of sampling::WatchRunningThreads. Without events of all processes,
// `threads` also has some of others.
// `samples` get the same threads, unless the events are of all processes. Null:
// there are none.
absl::StatusOr<WatchedProcesses> WatchProcesses(
    const RunningTarget& target, sampling::PerfEvents* samples = nullptr);

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_RUNNING_RUNNING_PROCESSES_H_
