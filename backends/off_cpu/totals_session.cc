#include "backends/off_cpu/totals_session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/off_cpu/cpu_limits.h"
#include "backends/off_cpu/look/thread_counts.h"
#include "backends/off_cpu/thread_clock.h"
#include "backends/off_cpu/thread_status.h"
#include "backends/sampling/process_table.h"
#include "profiler/base/clock.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/thread_states.h"
#include "profiler/processes/process_clocks.h"
#include "profiler/processes/process_list.h"
#include "profiler/processes/schedstat.h"

namespace kymo::off_cpu {
namespace {

// After a look, so many times its CPU time until the next. By the clock, a look
// that lost its CPU would keep others away for seconds.
constexpr DurationNs kPauseForEachNs = 50;

class TotalsSession final : public ActivitySession {
 public:
  explicit TotalsSession(const OwnProcess* own,
                         std::optional<RunningTarget> running = std::nullopt)
      : own_(own), running_(std::move(running)) {}

  absl::Status Prepare(TargetSetup*) override { return absl::OkStatus(); }
  absl::Status Start(pid_t pid) override;
  void Poll() override;
  absl::Status Stop() override;
  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override;

 private:
  struct Thread {
    TimeNs begin_ns = 0;
    TimeNs seen_ns = 0;
    processes::SchedStat before;  // not of this recording
    processes::SchedStat stat;
    ThreadStatus before_status;
    ThreadStatus status;
    model::ThreadCounts before_counts;
    model::ThreadCounts counts;
  };

  void LookAtRunning();
  void LookAtProcess(int64_t pid, TimeNs now_ns);
  void LookAtThread(const ThreadKey& key, TimeNs now_ns);
  void AddChildren(const ThreadKey& parent, TimeNs now_ns);

  const OwnProcess* const own_;  // null: the target is not this process
  const std::optional<RunningTarget> running_;
  sampling::ProcessTable processes_;
  std::set<int64_t> live_;  // processes
  std::map<ThreadKey, Thread> threads_;
  uint64_t threads_not_timed_ = 0;
  uint32_t cpu_count_ = 0;
  CpuLimits cpu_limits_;
  processes::ProcessClocks kymo_clock_;
  TimeNs last_look_ns_ = 0;
  int64_t next_look_ns_ = 0;  // CLOCK_MONOTONIC
  bool is_live_ = false;
};

// What was counted since then. After an exec by another thread, the main thread
// has that one's counts, which may be smaller.
template <typename T>
T Later(T before, T now) {
  return now >= before ? now - before : now;
}

ThreadKey KeyOf(int64_t pid, int64_t tid) {
  return {static_cast<uint32_t>(pid), static_cast<uint32_t>(tid)};
}

absl::Status TotalsSession::Start(pid_t pid) {
  last_look_ns_ = MonotonicNs() + EpochOffsetNs();
  cpu_count_ = CpuCount(pid);
  cpu_limits_.Begin(pid, running_);
  if (own_ == nullptr) kymo_clock_.AddRunning(getpid());
  if (running_) {
    LookAtRunning();
  } else {
    processes_.Process(pid).start_ns = own_ == nullptr ? last_look_ns_ : 0;
    live_.insert(pid);
  }
  if (running_) {
    for (const int64_t process : std::set(live_)) {
      LookAtProcess(process, last_look_ns_);
    }
  } else if (own_ == nullptr) {
    LookAtThread(KeyOf(pid, pid), last_look_ns_);
  } else {
    LookAtProcess(pid, last_look_ns_);
  }
  // What they did before, such as before an exec, is not the target's.
  for (auto& [key, thread] : threads_) {
    thread.before = thread.stat;
    thread.before_status = thread.status;
    thread.before_counts = thread.counts;
  }
  is_live_ = true;
  return absl::OkStatus();
}

void TotalsSession::LookAtRunning() {
  std::vector<processes::ProcessInfo> all = processes::ListProcesses();
  if (!running_->all) all = processes::TreeOf(all, running_->pids, getpid());
  for (const processes::ProcessInfo& process : all) {
    live_.insert(process.pid);
    processes_.Process(process.pid).parent_pid = process.parent;
    processes_.OnExisting(process.pid, process.pid, process.name);
  }
}

void TotalsSession::Poll() {
  const int64_t begin_ns = MonotonicNs();
  if (!is_live_ || begin_ns < next_look_ns_) return;
  const DurationNs used_before_ns = ThreadCpuNs();
  cpu_limits_.Look(begin_ns);
  const TimeNs now_ns = begin_ns + EpochOffsetNs();
  // Children are added while it goes on.
  for (auto pid = live_.begin(); pid != live_.end();) {
    LookAtProcess(*pid, now_ns);
    pid = processes_.Process(*pid).end_ns != 0 ? live_.erase(pid)
                                               : std::next(pid);
  }
  last_look_ns_ = now_ns;
  next_look_ns_ =
      MonotonicNs() + kPauseForEachNs * (ThreadCpuNs() - used_before_ns);
}

void TotalsSession::LookAtProcess(int64_t pid, TimeNs now_ns) {
  const std::vector<int64_t> tids = ThreadsOf(pid);
  if (tids.empty()) {
    if (own_ != nullptr) return;  // it could not be read
    processes_.Process(pid).end_ns = now_ns;
    return;
  }
  for (const int64_t tid : tids) {
    if (own_ != nullptr) {
      if (tid != own_->collector_tid) LookAtThread(KeyOf(pid, tid), now_ns);
      continue;
    }
    LookAtThread(KeyOf(pid, tid), now_ns);
    AddChildren(KeyOf(pid, tid), now_ns);
  }
}

void TotalsSession::LookAtThread(const ThreadKey& key, TimeNs now_ns) {
  const auto stat = processes::ReadSchedStat(key.pid, key.tid);
  auto status = ReadThreadStatus(key.pid, key.tid);
  if (!stat || !status) return;
  auto found = threads_.find(key);
  if (found == threads_.end()) {
    if (threads_.size() >= ThreadClock::kMostThreads) {
      ++threads_not_timed_;
      return;
    }
    // It did not exist at the last look.
    found = threads_.emplace(key, Thread{.begin_ns = last_look_ns_}).first;
  }
  Thread& thread = found->second;
  if (thread.status.has_ended) return;
  if (thread.status.name != status->name) {
    // A main thread with another name is a program's after its exec.
    processes_.OnName(key.pid, key.tid, status->name,
                      /*is_exec=*/key.pid == key.tid);
  }
  thread.seen_ns = now_ns;
  thread.stat = *stat;
  thread.counts = ReadThreadCounts(key.pid, key.tid);
  thread.status = *std::move(status);
}

void TotalsSession::AddChildren(const ThreadKey& parent, TimeNs now_ns) {
  for (const int64_t child : ChildrenOf(parent.pid, parent.tid)) {
    if (!live_.insert(child).second) continue;
    processes_.OnFork(child, child, parent.pid, parent.tid, now_ns);
  }
}

absl::Status TotalsSession::Stop() {
  kymo_clock_.Read();
  next_look_ns_ = 0;
  Poll();
  cpu_limits_.Look();
  is_live_ = false;
  return absl::OkStatus();
}

absl::StatusOr<Collected> TotalsSession::Collect(model::TraceShard& shard) {
  auto states = std::make_shared<model::ThreadStates>();
  states->cpu_count = cpu_count_;
  states->cpu_limit = cpu_limits_.Strongest();
  states->kymo_cpu_ns = kymo_clock_.total_ns();
  for (const auto& [key, thread] : threads_) {
    const DurationNs on_cpu_ns =
        Later(thread.before.on_cpu_ns, thread.stat.on_cpu_ns);
    const DurationNs waited_ns =
        Later(thread.before.waited_ns, thread.stat.waited_ns);
    states->threads.push_back(
        {.track = processes_.Track(key.pid, key.tid),
         // The thread may have begun a little before what was seen of it.
         .wall_ns =
             std::max(thread.seen_ns - thread.begin_ns, on_cpu_ns + waited_ns),
         .on_cpu_ns = on_cpu_ns,
         .runnable_ns = waited_ns,
         .voluntary_switches = Later(thread.before_status.voluntary_switches,
                                     thread.status.voluntary_switches),
         .involuntary_switches =
             Later(thread.before_status.involuntary_switches,
                   thread.status.involuntary_switches),
         .run_queue = model::RunQueueTime::kLastKnown,
         .counts = Since(thread.before_counts, thread.counts)});
  }
  processes_.Describe(shard);
  shard.ledger.Add(model::Loss::kThreadsNotTimed, threads_not_timed_);
  shard.ledger.Add(model::Loss::kWaitsNotRecorded, states->threads.size());
  shard.thread_states = std::move(states);
  return Collected{};
}

}  // namespace

std::unique_ptr<ActivitySession> NewTotalsSession(const OwnProcess* own) {
  return std::make_unique<TotalsSession>(own);
}

std::unique_ptr<ActivitySession> NewTotalsSession(RunningTarget running) {
  return std::make_unique<TotalsSession>(nullptr, std::move(running));
}

}  // namespace kymo::off_cpu
