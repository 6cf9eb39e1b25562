#include "backends/off_cpu/own/own_threads.h"

#include <unistd.h>

#include <set>

#include "absl/status/status.h"
#include "backends/off_cpu/thread_status.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"

namespace kymo::off_cpu {
namespace {

using sampling::PerfEvents;

// A program may begin threads faster than they get events.
constexpr int kMostLooks = 10;

absl::Status Watch(std::span<PerfEvents* const> events, int64_t tid) {
  for (PerfEvents* const event : events) {
    const absl::Status status = event->AlsoWatch(static_cast<pid_t>(tid));
    if (absl::IsNotFound(status)) break;  // it has ended
    KYMO_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WatchedThreads> WatchOwnThreads(
    std::span<PerfEvents* const> events, pid_t collector_tid) {
  WatchedThreads watched;
  std::set<int64_t> known = {gettid()};
  for (int look = 0; look < kMostLooks; ++look) {
    watched.time_ns = static_cast<uint64_t>(MonotonicNs());
    watched.tids = ThreadsOf(getpid());
    std::erase(watched.tids, collector_tid);
    bool found_new = false;
    for (const int64_t tid : watched.tids) {
      if (!known.insert(tid).second) continue;
      KYMO_RETURN_IF_ERROR(Watch(events, tid));
      found_new = true;
    }
    if (!found_new) break;
    watched.may_repeat = look > 0;
  }
  return watched;
}

}  // namespace kymo::off_cpu
