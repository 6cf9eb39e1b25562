#include "backends/off_cpu/running/running_processes.h"

#include <linux/perf_event.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "backends/sampling/perf_records.h"
#include "backends/sampling/perf_ring.h"
#include "backends/sampling/running/running_threads.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"

namespace kymo::off_cpu {
namespace {

using sampling::PerfEvents;
using sampling::PerfTarget;

// Drops the records up to a time, but for the threads that began.
void DropRecords(PerfEvents& events, uint64_t until_ns,
                 std::map<uint32_t, uint32_t>& begun) {
  for (sampling::PerfRing& ring : events.rings()) ring.Refresh();
  sampling::MergeByTime(events.rings(), until_ns,
                        [&](sampling::RecordBytes bytes) {
                          const auto header = sampling::DecodeHeader(bytes);
                          if (!header || header->type != PERF_RECORD_FORK)
                            return;
                          if (const auto task = sampling::DecodeTask(bytes)) {
                            begun[task->tid] = task->pid;
                          }
                        });
}

// Samples take no more than a quarter of the descriptors that are permitted, of
// which the others need some, too.
size_t MostSampledThreads(const PerfEvents& samples) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return limit.rlim_cur / 4 / samples.descriptors().size();
}

absl::Status Open(const RunningTarget& target, WatchedProcesses& watched) {
  if (target.all || sampling::HasManyThreads(target)) {
    auto events = PerfEvents::OpenSwitches(0, PerfTarget::kAllProcesses);
    watched.of_all_processes = events.ok();
    if (!events.ok() && target.all) return events.status();
    if (events.ok()) watched.events = *std::move(events);
  }
  if (watched.of_all_processes) return absl::OkStatus();
  KYMO_ASSIGN_OR_RETURN(
      watched.events, PerfEvents::OpenSwitches(0, PerfTarget::kRunningThreads));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckProcesses(const RunningTarget& target) {
  WatchedProcesses watched;
  KYMO_RETURN_IF_ERROR(Open(target, watched));
  if (watched.of_all_processes) return absl::OkStatus();
  return sampling::CheckProcesses(
      target.pids, [&](pid_t tid) { return watched.events->AlsoWatch(tid); });
}

absl::StatusOr<WatchedProcesses> WatchProcesses(const RunningTarget& target,
                                                PerfEvents* samples) {
  WatchedProcesses watched;
  KYMO_RETURN_IF_ERROR(Open(target, watched));
  PerfEvents& events = *watched.events;
  sampling::ThreadWatcher watcher;
  size_t sampled_threads_left =
      samples == nullptr ? 0 : MostSampledThreads(*samples);
  if (!watched.of_all_processes) {
    watcher.watch = [&](pid_t tid) {
      const absl::Status status = events.AlsoWatch(tid);
      // Without samples of it, looks see the thread's long waits.
      if (status.ok() && sampled_threads_left > 0) {
        --sampled_threads_left;
        samples->AlsoWatch(tid).IgnoreError();
      }
      return status;
    };
    watcher.begun = [&] {
      watched.time_ns = static_cast<uint64_t>(MonotonicNs());
      DropRecords(events, watched.time_ns, watched.threads);
      std::set<pid_t> tids;
      for (const auto& [tid, pid] : watched.threads) {
        tids.insert(static_cast<pid_t>(tid));
      }
      return tids;
    };
  }
  KYMO_ASSIGN_OR_RETURN(const sampling::RunningThreads found,
                        sampling::WatchRunningThreads(target, watcher));
  watched.time_ns = std::max(watched.time_ns, found.time_ns);
  DropRecords(events, watched.time_ns, watched.threads);
  for (const sampling::RunningProcess& process : found.processes) {
    watched.parents[process.info.pid] = process.info.parent;
    for (const pid_t tid : process.tids) {
      watched.threads[static_cast<uint32_t>(tid)] =
          static_cast<uint32_t>(process.info.pid);
    }
  }
  watched.may_repeat = !found.late.empty();
  return watched;
}

}  // namespace kymo::off_cpu
