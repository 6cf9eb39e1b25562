// Long, because it puts all parts of the folder together.
#include "backends/off_cpu/off_cpu_session.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "backends/off_cpu/calls/noted_calls.h"
#include "backends/off_cpu/common_stop.h"
#include "backends/off_cpu/cpu_limits.h"
#include "backends/off_cpu/lock_names.h"
#include "backends/off_cpu/look/thread_counts.h"
#include "backends/off_cpu/own/own_threads.h"
#include "backends/off_cpu/own/repeated_records.h"
#include "backends/off_cpu/running/running_processes.h"
#include "backends/off_cpu/stack_samples.h"
#include "backends/off_cpu/thread_clock.h"
#include "backends/off_cpu/thread_status.h"
#include "backends/off_cpu/wait_causes.h"
#include "backends/off_cpu/wait_log.h"
#include "backends/sampling/perf_events.h"
#include "backends/sampling/perf_records.h"
#include "backends/sampling/perf_ring.h"
#include "backends/sampling/process_table.h"
#include "backends/sampling/running/running_threads.h"
#include "backends/sampling/running/target_pids.h"
#include "backends/sampling/stack_store.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/thread_states.h"
#include "profiler/processes/process_clocks.h"
#include "profiler/processes/schedstat.h"
#include "profiler/record/own_threads.h"

namespace kymo::off_cpu {
namespace {

using sampling::PerfEvents;
using sampling::PerfRing;
using sampling::RecordBytes;

constexpr uint64_t kForever = ~uint64_t{0};
// Each Poll, which comes every 5 ms: 30 us at most.
constexpr int kMostReadsPerPoll = 8;
// Of page faults and I/O: 15 us each.
constexpr int kMostCountsPerPoll = 2;
constexpr size_t kMostCountsAtEnd = 10'000;
uint64_t NowNs() { return static_cast<uint64_t>(MonotonicNs()); }

TimeNs ToEpoch(uint64_t monotonic_ns) {
  return static_cast<TimeNs>(monotonic_ns) + EpochOffsetNs();
}

class OffCpuSession final : public ActivitySession {
 public:
  OffCpuSession(StackSource source, const OwnProcess* own,
                std::optional<RunningTarget> running)
      : source_(source), own_(own), running_(std::move(running)) {}

  absl::Status Prepare(TargetSetup*) override;
  absl::Status Start(pid_t pid) override;
  void Poll() override;
  DurationNs PollPeriodNs() const noexcept override {
    return causes_.looks_at_short_waits() ? kNsPerMs : kPollPeriodNs;
  }
  absl::Status Stop() override;
  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override;

 private:
  void Drain(uint64_t until_ns);
  void NoteCommonStop(uint64_t now_ns);
  absl::Status OpenEvents(pid_t pid);
  absl::Status StartOwn();
  absl::Status StartRunning();
  void BeginThread(uint32_t pid, uint32_t tid, uint64_t time_ns);
  void Handle(RecordBytes bytes, size_t ring);
  bool HandleKnown(RecordBytes bytes, uint32_t type, size_t ring);
  void ReadEnded(const sampling::TaskRecord& task);
  bool HandleTask(RecordBytes bytes, uint32_t type, size_t ring);
  bool IsNew(uint32_t tid, size_t ring, RepeatedRecords::Kind kind) {
    return !may_repeat_ || !repeated_.IsRepeated(tid, ring, kind);
  }
  // Kernels before 5.13 record the children of this process, too.
  bool IsOfTarget(uint32_t pid) {
    if (of_all_processes_) return pids_.Has(pid);
    return own_ == nullptr || pid == static_cast<uint32_t>(pid_);
  }
  void OnExec(const sampling::CommRecord& comm);
  void ReadSchedStatOf(const ThreadKey& thread, uint64_t now_ns);
  void ReadCountsOf(const ThreadKey& thread) {
    clock_.OnCounts(thread.tid, ReadThreadCounts(thread.pid, thread.tid));
  }

  const StackSource source_;
  const OwnProcess* const own_;  // null: the target is not this process
  const std::optional<RunningTarget> running_;
  // The events are of all that the machine runs, and these are the target's.
  bool of_all_processes_ = false;
  sampling::TargetPids pids_{[this](uint32_t pid, uint32_t parent) {
    processes_.OnFork(pid, pid, parent, parent, ToEpoch(NowNs()));
  }};
  // Of events of all: threads that have ended, but still leave their CPU.
  std::unordered_set<uint32_t> ended_;
  pid_t pid_ = 0;
  bool may_repeat_ = false;
  RepeatedRecords repeated_;
  std::unique_ptr<PerfEvents> events_;
  std::vector<PerfRing*> rings_;  // of events_, then of samples_
  sampling::StackStore stacks_;
  sampling::ProcessTable& processes_ = stacks_.processes();
  WaitLog waits_;
  WaitCauses causes_{&stacks_, &waits_};
  std::map<ThreadKey, ThreadKey> creators_;
  ThreadClock clock_{ThreadClock::kMostThreads,
                     [this](const OffCpuTime& time) { waits_.OnWait(time); }};
  NotedCalls calls_{&causes_, &waits_, &clock_};
  StackSamples samples_{&clock_, &causes_};
  uint32_t cpu_count_ = 0;
  CpuLimits cpu_limits_;
  processes::ProcessClocks kymo_clock_;
  // Of the program's first thread, before its exec.
  model::ThreadCounts counts_before_;
  bool is_first_exec_ = true;
  // When the previous Poll began. Everything older is in the rings by now, so
  // records of different CPUs can be put in order up to here.
  uint64_t settled_ns_ = 0;
  uint64_t told_lost_records_ = 0;
  CommonStop common_stop_;
  model::LossLedger ledger_;
};

absl::Status OffCpuSession::Prepare(TargetSetup* setup) {
  KYMO_RETURN_IF_ERROR(PerfEvents::ProbeSwitches());
  if (own_ == nullptr && setup != nullptr) {
    KYMO_RETURN_IF_ERROR(calls_.Prepare(*setup));
  }
  // The program runs already: what takes long is not left to the start.
  if (own_ != nullptr && source_ != StackSource::kLooks &&
      PerfEvents::ProbeSwitchStacks().ok()) {
    causes_.ExpectSamples();
  }
  return absl::OkStatus();
}

absl::Status OffCpuSession::Start(pid_t pid) {
  pid_ = pid;
  cpu_count_ = CpuCount(running_ && running_->all ? 0 : pid);
  cpu_limits_.Begin(pid, running_);
  if (own_ != nullptr) return StartOwn();
  kymo_clock_.AddRunning(getpid());
  if (running_) return StartRunning();
  counts_before_ = ReadThreadCounts(pid, pid);
  KYMO_RETURN_IF_ERROR(OpenEvents(pid));
  processes_.Process(pid).start_ns = ToEpoch(NowNs());
  return absl::OkStatus();
}

absl::Status OffCpuSession::OpenEvents(pid_t pid) {
  using enum sampling::PerfTarget;
  const auto target = own_ == nullptr ? kProgram : kThreadOfThisProcess;
  KYMO_ASSIGN_OR_RETURN(events_, PerfEvents::OpenSwitches(pid, target));
  for (PerfRing& ring : events_->rings()) rings_.push_back(&ring);
  // Without samples, looks find the stacks of long waits.
  if (source_ == StackSource::kLooks) return absl::OkStatus();
  samples_.Open(pid, target);
  samples_.AddRings(rings_);
  // Of this process, Prepare has seen to that.
  if (own_ == nullptr && samples_.switches() != nullptr) {
    causes_.ExpectSamples();
  }
  return absl::OkStatus();
}

absl::Status OffCpuSession::StartOwn() {
  KYMO_RETURN_IF_ERROR(OpenEvents(gettid()));
  std::vector<PerfEvents*> all = {events_.get()};
  if (samples_.switches() != nullptr) all.push_back(samples_.switches());
  KYMO_ASSIGN_OR_RETURN(const WatchedThreads watched,
                        WatchOwnThreads(all, own_->collector_tid));
  may_repeat_ = watched.may_repeat;
  // What threads did before is not of this recording.
  for (PerfRing* const ring : rings_) ring->Refresh();
  sampling::MergeByTime(rings_, watched.time_ns, [](RecordBytes, size_t) {});
  for (const int64_t tid : watched.tids) {
    BeginThread(static_cast<uint32_t>(pid_), static_cast<uint32_t>(tid),
                watched.time_ns);
  }
  return absl::OkStatus();
}

absl::Status OffCpuSession::StartRunning() {
  if (source_ != StackSource::kLooks && !running_->all) {
    samples_.Open(0, sampling::PerfTarget::kRunningThreads);
  }
  PerfEvents* const samples = samples_.switches();
  if (samples != nullptr) causes_.ExpectSamples();
  KYMO_ASSIGN_OR_RETURN(WatchedProcesses watched,
                        WatchProcesses(*running_, samples));
  causes_.LookAtShortWaits(samples == nullptr || watched.of_all_processes);
  events_ = std::move(watched.events);
  of_all_processes_ = watched.of_all_processes;
  may_repeat_ = watched.may_repeat;
  for (PerfRing& ring : events_->rings()) rings_.push_back(&ring);
  samples_.AddRings(rings_);
  if (running_->all) pids_.AddAll();
  for (const auto& [pid, parent] : watched.parents) {
    pids_.Add(static_cast<uint32_t>(pid));
    processes_.Process(pid).parent_pid = parent;
  }
  for (const auto& [tid, pid] : watched.threads) {
    BeginThread(pid, tid, watched.time_ns);
  }
  return absl::OkStatus();
}

void OffCpuSession::BeginThread(uint32_t pid, uint32_t tid, uint64_t time_ns) {
  const auto status = ReadThreadStatus(pid, tid);
  if (!status || status->has_ended || !IsOfTarget(pid)) return;
  processes_.OnExisting(pid, tid, status->name);
  clock_.OnExisting(pid, tid, time_ns, status->is_running);
  if (const auto stat = processes::ReadSchedStat(pid, tid)) {
    clock_.OnRunQueueBefore(tid, stat->waited_ns);
    clock_.OnCpuTimeBefore(tid, stat->on_cpu_ns);
  }
  clock_.OnCountsBefore(tid, ReadThreadCounts(pid, tid));
}

void OffCpuSession::Poll() {
  if (events_ == nullptr) return;
  const uint64_t now_ns = NowNs();
  cpu_limits_.Look(static_cast<TimeNs>(now_ns));
  if (own_ == nullptr && !running_) NoteCommonStop(now_ns);
  // A ring that fills up matters more than perfect order.
  const bool is_urgent = std::ranges::any_of(rings_, [](PerfRing* ring) {
    ring->Refresh();
    return ring->pending_bytes() > ring->size_bytes() / 2;
  });
  const uint64_t until_ns = is_urgent ? now_ns : settled_ns_;
  Drain(until_ns);
  calls_.Deliver(settled_ns_);
  settled_ns_ = now_ns;
  pids_.ForgetEnded();
  samples_.Bound(now_ns);
  int counted = 0;
  for (int i = 0; i < kMostReadsPerPoll; ++i) {
    const auto thread = clock_.NextToRead(now_ns);
    if (!thread) break;
    ReadSchedStatOf(*thread, now_ns);
    if (thread->counts_are_due && counted++ < kMostCountsPerPoll) {
      ReadCountsOf(*thread);
    }
  }
  causes_.LookAtBlocked(clock_, until_ns);
}

// A stop is for the whole process group of a job.
void OffCpuSession::NoteCommonStop(uint64_t now_ns) {
  const auto gap = common_stop_.Look(pid_, now_ns);
  if (!gap) return;
  Drain(gap->middle_ns);  // waits that the stop has ended keep their causes
  const pid_t group = getpgid(pid_);
  for (const ThreadKey& thread : clock_.LiveThreads()) {
    // A thread that stops leaves its wait first, and begins another one. One
    // that ignores the stop, or cannot leave its wait, may go on with that.
    const auto since_ns = clock_.BlockedSince(thread.tid);
    if (since_ns && *since_ns >= gap->begin_ns &&
        getpgid(static_cast<pid_t>(thread.pid)) == group) {
      causes_.OnStopped(thread, *since_ns);
    }
  }
}

void OffCpuSession::ReadSchedStatOf(const ThreadKey& thread, uint64_t now_ns) {
  const uint64_t begin_ns = NowNs();
  const auto stat = processes::ReadSchedStat(thread.pid, thread.tid);
  if (!stat) return;
  clock_.OnRunQueue(thread.tid, stat->waited_ns, now_ns);
  clock_.OnCpuTime(thread.tid, stat->on_cpu_ns, begin_ns, NowNs());
}

void OffCpuSession::OnExec(const sampling::CommRecord& comm) {
  calls_.Deliver(comm.time_ns);  // while the old program's code is known
  if (!clock_.OnExec(comm.pid, comm.tid, comm.time_ns)) return;
  // The thread has waited for CPUs before its exec, too, even after its
  // release. What it has waited since its exec, some milliseconds, is little.
  const auto stat = processes::ReadSchedStat(comm.pid, comm.tid);
  if (stat) clock_.OnRunQueueBefore(comm.tid, stat->waited_ns);
  const bool is_first = comm.pid == static_cast<uint32_t>(pid_) &&
                        std::exchange(is_first_exec_, false);
  clock_.OnCountsBefore(comm.tid, is_first
                                      ? counts_before_
                                      : ReadThreadCounts(comm.pid, comm.tid));
}

void OffCpuSession::Drain(uint64_t until_ns) {
  calls_.Read();
  for (const NotedEnd& end : calls_.TakeEnds()) {
    clock_.OnLastCounts(end.tid, end.on_cpu_ns, end.waited_ns, end.counts,
                        end.time_ns);
  }
  for (PerfRing* const ring : rings_) ring->Refresh();
  sampling::MergeByTime(
      rings_, until_ns,
      [this](RecordBytes bytes, size_t ring) { Handle(bytes, ring); });
}

void OffCpuSession::Handle(RecordBytes bytes, size_t ring) {
  const auto header = sampling::DecodeHeader(bytes);
  const size_t switch_rings = events_->rings().size();
  const bool is_of_samples = ring >= switch_rings;
  const bool is_good =
      header &&
      (is_of_samples ? samples_.Handle(bytes, header->type, ring - switch_rings)
                     : HandleKnown(bytes, header->type, ring));
  if (is_good) return;
  ledger_.Add(model::Loss::kRecordsCorrupt, 1);
  if (!is_of_samples) {
    clock_.OnLost(sampling::DecodeTime(bytes).value_or(NowNs()));
  }
}

// False if the record is damaged.
bool OffCpuSession::HandleKnown(RecordBytes bytes, uint32_t type, size_t ring) {
  switch (type) {
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE: {
      const auto record = sampling::DecodeSwitch(bytes);
      if (record && IsOfTarget(record->pid) && !ended_.contains(record->tid) &&
          IsNew(
              record->tid, ring,
              record->is_out ? RepeatedRecords::kOut : RepeatedRecords::kIn)) {
        causes_.OnSwitch(*record);
        clock_.OnSwitch(*record);
      }
      return record.has_value();
    }
    case PERF_RECORD_MMAP2: {
      const auto map = sampling::DecodeMap(bytes);
      if (map && IsOfTarget(map->pid)) stacks_.OnMap(*map);
      return map.has_value();
    }
    case PERF_RECORD_COMM: {
      const auto comm = sampling::DecodeComm(bytes);
      if (!comm) return false;
      if (!IsOfTarget(comm->pid)) return true;
      if (comm->is_exec) OnExec(*comm);
      processes_.OnName(comm->pid, comm->tid, comm->name, comm->is_exec);
      return true;
    }
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      return HandleTask(bytes, type, ring);
    case PERF_RECORD_LOST: {
      const auto lost = sampling::DecodeLost(bytes);
      const auto time_ns = sampling::DecodeTime(bytes);
      if (!lost || !time_ns) return false;
      told_lost_records_ += *lost;
      clock_.OnLost(*time_ns);
      pids_.OnLost();
      return true;
    }
    default:
      return true;  // kinds that were not requested
  }
}

void OffCpuSession::ReadEnded(const sampling::TaskRecord& task) {
  const auto stat = processes::ReadSchedStat(task.pid, task.tid);
  if (!stat) return;
  clock_.OnLastCounts(task.tid, stat->on_cpu_ns, stat->waited_ns,
                      ReadThreadCounts(task.pid, task.tid), task.time_ns);
}

bool OffCpuSession::HandleTask(RecordBytes bytes, uint32_t type, size_t ring) {
  const auto task = sampling::DecodeTask(bytes);
  if (!task) return false;
  if (type == PERF_RECORD_EXIT) {
    if (!IsOfTarget(task->pid)) return true;
    calls_.OnThreadEnd(task->tid, task->time_ns);
    if (processes_.OnExit(task->pid, task->tid, ToEpoch(task->time_ns))) {
      pids_.OnExit(task->pid);
    }
    // Of a main thread, the counts stay until somebody has waited for it. If
    // another thread became a program, they are that one's from then on.
    if (task->tid == task->pid && IsEnding(task->pid, task->tid)) {
      ReadEnded(*task);
    }
    clock_.OnExit(task->tid, task->time_ns);
    repeated_.Forget(task->tid);
    if (of_all_processes_) ended_.insert(task->tid);
    return true;
  }
  ended_.erase(task->tid);
  if (of_all_processes_) pids_.OnFork(task->pid, task->parent_pid);
  if (IsOfTarget(task->pid) &&
      IsNew(task->tid, ring, RepeatedRecords::kBegin) &&
      clock_.OnFork(task->pid, task->tid, task->time_ns)) {
    processes_.OnFork(task->pid, task->tid, task->parent_pid, task->parent_tid,
                      ToEpoch(task->time_ns));
    // Of two threads with one number, the first: as their begin.
    creators_.try_emplace({task->pid, task->tid},
                          ThreadKey{task->parent_pid, task->parent_tid});
  }
  return true;
}

absl::Status OffCpuSession::Stop() {
  if (events_ == nullptr) return absl::OkStatus();
  events_->Disable();
  samples_.Disable();
  const uint64_t now_ns = NowNs();
  kymo_clock_.Read();
  cpu_limits_.Look();
  Drain(kForever);
  calls_.End(ledger_);
  causes_.Finish();
  const sampling::PerfTotals totals = events_->ReadTotals();
  // A full ring tells of its losses only when there is room again.
  if (totals.knows_lost && totals.lost_records > told_lost_records_) {
    clock_.OnLost(now_ns);
  }
  size_t counted = 0;
  for (const ThreadKey& thread : clock_.LiveThreads()) {
    ReadSchedStatOf(thread, now_ns);
    if (++counted <= kMostCountsAtEnd) ReadCountsOf(thread);
    if (!processes::ThreadExists(thread.pid, thread.tid)) {
      clock_.OnEndLost(thread.tid);
    }
  }
  clock_.End(now_ns);
  ledger_.Add(model::Loss::kSwitchesLost,
              totals.knows_lost ? totals.lost_records : told_lost_records_);
  ledger_.Add(model::Loss::kThreadsNotTimed, clock_.threads_not_timed());
  for (const PerfRing* const ring : std::exchange(rings_, {})) {
    ledger_.Add(model::Loss::kRecordsCorrupt, ring->corrupt_count());
  }
  samples_.End();
  events_ = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<Collected> OffCpuSession::Collect(model::TraceShard& shard) {
  auto states = std::make_shared<model::ThreadStates>();
  states->cpu_count = cpu_count_;
  states->cpu_limit = cpu_limits_.Strongest();
  states->kymo_cpu_ns = kymo_clock_.total_ns();
  const auto is_own = [this](const ThreadKey& thread) {
    return record::IsThreadOfKymo(
        processes_.Thread(thread.pid, thread.tid).name);
  };
  for (const auto& [thread, sums] : clock_.times()) {
    if (is_own(thread)) {
      states->kymo_cpu_ns += sums.on_cpu_ns;
      continue;
    }
    model::ThreadTimes& times = states->threads.emplace_back(sums);
    times.track = processes_.Track(thread.pid, thread.tid);
    times.begin_ns = ToEpoch(static_cast<uint64_t>(times.begin_ns));
    times.end_ns = ToEpoch(static_cast<uint64_t>(times.end_ns));
    const auto creator = creators_.find(thread);
    if (creator != creators_.end() &&
        clock_.times().contains(creator->second)) {
      times.creator =
          processes_.Track(creator->second.pid, creator->second.tid);
    }
  }
  const std::vector<model::StackId> stacks = stacks_.Collect(shard);
  waits_.Collect(
      [&](const ThreadKey& thread) {
        return is_own(thread) ? model::kNoTrack
                              : processes_.Track(thread.pid, thread.tid);
      },
      stacks, shard, *states);
  const auto is_of_none = [](const auto& wait) {
    return wait.track == model::kNoTrack;
  };
  std::erase_if(states->waits, is_of_none);
  std::erase_if(states->short_waits, is_of_none);
  TellLocksFromConditions(shard, *states);
  causes_.statics().Name(shard, *states);
  shard.thread_states = std::move(states);
  shard.ledger.Merge(ledger_);
  return Collected{};
}

}  // namespace

std::unique_ptr<ActivitySession> NewOffCpuSession(StackSource source,
                                                  const OwnProcess* own) {
  return std::make_unique<OffCpuSession>(source, own, std::nullopt);
}

std::unique_ptr<ActivitySession> NewOffCpuSession(StackSource source,
                                                  RunningTarget running) {
  return std::make_unique<OffCpuSession>(source, nullptr, std::move(running));
}

}  // namespace kymo::off_cpu
