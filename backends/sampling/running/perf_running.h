// perf_running.h - what a session by perf events does about processes that run
// already.
//
//   RunningProcesses running(target);
//   KYMO_ASSIGN_OR_RETURN(RunningEvents opened, OpenRunning(settings, target));
//   KYMO_RETURN_IF_ERROR(running.Begin(opened.of_all_processes
//                                          ? nullptr : opened.events.get(),
//                                      drain, pids, store));
//   running.OnFork(record, *opened.events);    // each record
//   running.OnExit(pid);
//   running.ReadClocks(now_ns);                // at each poll
//   Use(running.cpu_ns());
//
// Threads: one.
#ifndef KYMO_BACKENDS_SAMPLING_RUNNING_PERF_RUNNING_H_
#define KYMO_BACKENDS_SAMPLING_RUNNING_PERF_RUNNING_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/sampling/perf_events.h"
#include "backends/sampling/perf_records.h"
#include "backends/sampling/running/target_pids.h"
#include "backends/sampling/sample_store.h"
#include "backends/sampling/sampling_settings.h"
#include "profiler/base/time.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/processes/process_clocks.h"

namespace kymo::sampling {

// Whether the processes may be sampled, and if not, why and what helps.
absl::Status CheckRunning(const Settings& settings,
                          const RunningTarget& target);

// What a session of this process has to know before its start.
struct OwnProcess {
  // The thread that polls the session. It is none of the program's.
  pid_t left_out_tid = 0;
};

struct RunningEvents {
  std::unique_ptr<PerfEvents> events;
  // They sample all that the machine runs, because that was wanted, or because
  // of HasManyThreads. Otherwise they sample nothing yet.
  bool of_all_processes = false;
};
absl::StatusOr<RunningEvents> OpenRunning(const Settings& settings,
                                          const RunningTarget& target);
// The same of this process.
absl::StatusOr<RunningEvents> OpenOwn(const Settings& settings);

class RunningProcesses {
 public:
  // With `own`, which must outlive this, it is this process alone.
  explicit RunningProcesses(RunningTarget target,
                            const OwnProcess* own = nullptr)
      : target_(std::move(target)), own_(own) {}

  absl::StatusOr<RunningEvents> Open(const Settings& settings) const {
    return own_ == nullptr ? OpenRunning(settings, target_) : OpenOwn(settings);
  }

  // Gives all threads `events`, unless these are null because others watch the
  // whole machine. Tells `pids` and `store` what runs, and what is mapped.
  // `drain` handles the records so far: it calls OnFork.
  absl::Status Begin(PerfEvents* events, const std::function<void()>& drain,
                     TargetPids& pids, SampleStore& store);

  // A thread or process of the target began.
  void OnFork(const TaskRecord& record, PerfEvents& events);
  // The events of a process's last thread ended.
  void OnExit(uint32_t pid);

  // Reads how much CPU time the processes have used, if that was long ago.
  void ReadClocks(uint64_t now_ns);
  // Without this process, whose clock has the left-out thread, too.
  DurationNs cpu_ns() const noexcept {
    return own_ == nullptr ? clocks_.total_ns() : 0;
  }
  // What processes used since their events ended, though they had not: they
  // ran programs that give more rights, such as set-uid ones.
  DurationNs unwatched_ns() const noexcept { return unwatched_.total_ns(); }
  // RunningThreads::refused.
  size_t refused() const noexcept { return refused_; }

 private:
  const RunningTarget target_;
  const OwnProcess* const own_;
  std::set<pid_t> begun_;  // until Begin has returned
  bool is_beginning_ = true;
  std::set<pid_t> late_;  // RunningThreads::late
  size_t refused_ = 0;
  processes::ProcessClocks clocks_;
  processes::ProcessClocks unwatched_;
  uint64_t clocks_read_ns_ = 0;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_RUNNING_PERF_RUNNING_H_
