#include "backends/sampling/running/perf_running.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "backends/sampling/process_table.h"
#include "backends/sampling/running/running_threads.h"
#include "profiler/base/status_macros.h"
#include "profiler/processes/process_list.h"

namespace kymo::sampling {
namespace {

// A process that ends unseen has the time of the last reading.
constexpr uint64_t kClockPeriodNs = 100 * kNsPerMs;

absl::Status NotTheWholeMachine(const absl::Status& refusal) {
  return absl::Status(
      refusal.code(),
      absl::StrCat("the whole machine may be recorded by root, with "
                   "CAP_PERFMON, or where perf_event_paranoid is below 1: "
                   "become one of these, or name processes with --pid (",
                   refusal.message(), ")"));
}

void AddProcess(const RunningProcess& process, SampleStore& store) {
  const pid_t pid = process.info.pid;
  ProcessTable& table = store.processes();
  table.Process(pid).parent_pid = process.info.parent;
  for (const pid_t tid : process.tids) {
    const std::string name = processes::NameOf(pid, tid);
    if (!name.empty()) table.OnExisting(pid, tid, name);
  }
  store.ReadMapsOf(pid);
}

}  // namespace

absl::Status CheckRunning(const Settings& settings,
                          const RunningTarget& target) {
  KYMO_RETURN_IF_ERROR(ProbePerf(settings).status());
  KYMO_ASSIGN_OR_RETURN(const RunningEvents opened,
                        OpenRunning(settings, target));
  if (opened.of_all_processes) return absl::OkStatus();
  return CheckProcesses(target.pids, [&](pid_t tid) {
    absl::Status status = opened.events->AlsoWatch(tid);
    opened.events->Unwatch(tid);
    return status;
  });
}

absl::StatusOr<RunningEvents> OpenRunning(const Settings& settings,
                                          const RunningTarget& target) {
  if (target.all || (settings.all_processes != AllProcesses::kNever &&
                     HasManyThreads(target))) {
    auto events = PerfEvents::Open(settings, PerfEvents::kAllProcesses);
    if (events.ok()) {
      return RunningEvents{*std::move(events), /*of_all_processes=*/true};
    }
    if (target.all) return NotTheWholeMachine(events.status());
  }
  KYMO_ASSIGN_OR_RETURN(
      auto events, PerfEvents::Open(settings, PerfEvents::kRunningThreads));
  return RunningEvents{std::move(events)};
}

absl::StatusOr<RunningEvents> OpenOwn(const Settings& settings) {
  KYMO_ASSIGN_OR_RETURN(auto events,
                        PerfEvents::Open(settings, PerfEvents::kOwnThreads));
  return RunningEvents{std::move(events)};
}

absl::Status RunningProcesses::Begin(PerfEvents* events,
                                     const std::function<void()>& drain,
                                     TargetPids& pids, SampleStore& store) {
  ThreadWatcher watcher;
  if (own_ != nullptr) watcher.left_out_tid = own_->left_out_tid;
  if (events != nullptr) {
    watcher.watch = [events](pid_t tid) { return events->AlsoWatch(tid); };
    watcher.begun = [&] {
      drain();
      return begun_;
    };
  }
  // What a thread uses until it has its event counts as not sampled.
  for (const pid_t pid : target_.pids) clocks_.AddRunning(pid);
  KYMO_ASSIGN_OR_RETURN(RunningThreads found,
                        WatchRunningThreads(target_, watcher));
  if (target_.all) pids.AddAll();
  for (const RunningProcess& process : found.processes) {
    pids.Add(static_cast<uint32_t>(process.info.pid));
    clocks_.AddRunning(process.info.pid);
    AddProcess(process, store);
  }
  late_ = std::move(found.late);
  refused_ = found.refused;
  begun_.clear();
  is_beginning_ = false;
  return absl::OkStatus();
}

void RunningProcesses::OnFork(const TaskRecord& record, PerfEvents& events) {
  const auto tid = static_cast<pid_t>(record.tid);
  if (is_beginning_) begun_.insert(tid);
  if (late_.erase(tid) != 0) events.Unwatch(tid);
  if (record.pid != record.parent_pid) {
    clocks_.AddNew(static_cast<pid_t>(record.pid));
  }
}

void RunningProcesses::OnExit(uint32_t pid) {
  const auto ended = static_cast<pid_t>(pid);
  const auto process = processes::ReadProcess(ended);
  if (process && !process->has_ended()) {
    unwatched_.AddRunning(ended);
  } else {
    clocks_.Forget(ended);
  }
}

void RunningProcesses::ReadClocks(uint64_t now_ns) {
  if (now_ns - clocks_read_ns_ < kClockPeriodNs) return;
  clocks_read_ns_ = now_ns;
  clocks_.Read();
  unwatched_.Read();
}

}  // namespace kymo::sampling
