// own_threads.h - has perf events watch all threads of this process.
//
//   KYMO_ASSIGN_OR_RETURN(const WatchedThreads watched,
//                         WatchOwnThreads({&events, 1}, collector_tid));
//
// Threads may begin meanwhile. When a look at the list of threads finds none
// without an event, all that begin later inherit one.
#ifndef KYMO_BACKENDS_OFF_CPU_OWN_OWN_THREADS_H_
#define KYMO_BACKENDS_OFF_CPU_OWN_OWN_THREADS_H_

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/sampling/perf_events.h"

namespace kymo::off_cpu {

struct WatchedThreads {
  // Those that were there at that time, and some that began after it; without
  // the collector.
  std::vector<int64_t> tids;
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  // Some threads may have two events (repeated_records.h).
  bool may_repeat = false;
};

// `events`: opened on the calling thread, as of this process. `collector_tid`:
// the thread that is left out. The errors of PerfEvents::AlsoWatch.
absl::StatusOr<WatchedThreads> WatchOwnThreads(
    std::span<sampling::PerfEvents* const> events, pid_t collector_tid);

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_OWN_OWN_THREADS_H_
