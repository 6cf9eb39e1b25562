// running_threads.h - gives perf events to the threads of processes that run
// already, and finds out which threads these are.
//
//   KYMO_ASSIGN_OR_RETURN(
//       const RunningThreads found,
//       WatchRunningThreads(target, {.events = events.get(),
//                                    .begun = [&] { return begun_tids; }}));
//   for (const auto& process : found.processes) Use(process.info);
//
// Threads begin meanwhile. One that a watched thread made has inherited its
// event, and the kernel's FORK record says so. Any other gets an event. When a
// look at the lists finds no such thread, all that begin later inherit theirs.
//
// Nothing is done to the processes. With events of all that the machine runs,
// the lists are read, and no thread needs an event of its own.
//
// Threads: one.
#ifndef KYMO_BACKENDS_SAMPLING_RUNNING_RUNNING_THREADS_H_
#define KYMO_BACKENDS_SAMPLING_RUNNING_RUNNING_THREADS_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/processes/process_list.h"

namespace kymo::sampling {

struct RunningProcess {
  processes::ProcessInfo info;
  std::set<pid_t> tids;
};

struct RunningThreads {
  std::vector<RunningProcess> processes;  // by number
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC, before the last look
  // Threads that got an event although a watched thread may have made them. If
  // a FORK record comes after all, they have two (PerfEvents::Unwatch).
  std::set<pid_t> late;
  // Processes that a target started and that this user may not watch.
  size_t refused = 0;
};

struct ThreadWatcher {
  // Gives a thread its event: PerfEvents::AlsoWatch. Null: none needs one.
  std::function<absl::Status(pid_t tid)> watch;
  // All threads of which FORK records have told by now.
  std::function<std::set<pid_t>()> begun;
  std::string proc = "/proc";
  // Not 0: the target is this process alone, without this thread.
  pid_t left_out_tid = 0;
};

// This process is left out, unless left_out_tid is set. kNotFound if none of
// the target's processes is there any more, kPermissionDenied if this user may
// not watch one that was named.
absl::StatusOr<RunningThreads> WatchRunningThreads(
    const RunningTarget& target, const ThreadWatcher& watcher);

// Whether its threads would take so many events that events of all that the
// machine runs are better, where these are permitted. Few events are better
// than those: they cost other programs nothing, and rings have the target's
// records alone.
bool HasManyThreads(const RunningTarget& target);

// A sentence about `refused`.
std::string MissingText(size_t refused);

// Watches the first thread of the process that is there: its main thread may
// have ended before the others. A refusal is WatchRefusal's.
absl::Status WatchAnyThread(pid_t pid,
                            const std::function<absl::Status(pid_t)>& watch);

// The same of each process that has not ended; NotFound if all have.
absl::Status CheckProcesses(std::span<const pid_t> pids,
                            const std::function<absl::Status(pid_t)>& watch);

// Why this user may not watch a process, and what helps.
absl::Status WatchRefusal(pid_t pid);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_RUNNING_RUNNING_THREADS_H_
