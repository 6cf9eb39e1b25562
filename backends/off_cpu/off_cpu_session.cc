#include "backends/off_cpu/off_cpu_session.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "backends/off_cpu/schedstat.h"
#include "backends/off_cpu/thread_clock.h"
#include "backends/sampling/perf_events.h"
#include "backends/sampling/perf_records.h"
#include "backends/sampling/perf_ring.h"
#include "backends/sampling/process_table.h"
#include "profiler/base/clock.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/thread_states.h"

namespace kymo::off_cpu {
namespace {

using sampling::PerfEvents;
using sampling::PerfRing;
using sampling::RecordBytes;

constexpr uint64_t kForever = ~uint64_t{0};
// Each Poll, which comes every 5 ms: 30 us at most.
constexpr int kMostReadsPerPoll = 8;

uint64_t NowNs() { return static_cast<uint64_t>(MonotonicNs()); }

TimeNs ToEpoch(uint64_t monotonic_ns) {
  return static_cast<TimeNs>(monotonic_ns) + EpochOffsetNs();
}

// How many CPUs the process may use; 0: the kernel does not say.
uint32_t CpuCount(pid_t pid) {
  cpu_set_t cpus;
  if (sched_getaffinity(pid, sizeof(cpus), &cpus) != 0) return 0;
  return static_cast<uint32_t>(CPU_COUNT(&cpus));
}

class OffCpuSession final : public ActivitySession {
 public:
  absl::Status Prepare(TargetSetup*) override {
    return PerfEvents::ProbeSwitches();
  }
  absl::Status Start(pid_t pid) override;
  void Poll() override;
  absl::Status Stop() override;
  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override;

 private:
  void Drain(uint64_t until_ns);
  void Handle(RecordBytes bytes);
  bool HandleKnown(RecordBytes bytes, uint32_t type);
  void OnExec(const sampling::CommRecord& comm);
  void ReadRunQueue(const ThreadKey& thread, uint64_t now_ns);

  std::unique_ptr<PerfEvents> events_;
  sampling::ProcessTable processes_;
  ThreadClock clock_;
  uint32_t cpu_count_ = 0;
  uint32_t target_ = 0;
  // The target for CPUs, before its exec; nothing after that.
  std::optional<DurationNs> waited_before_ns_;
  // When the previous Poll began. Everything older is in the rings by now, so
  // records of different CPUs can be put in order up to here.
  uint64_t settled_ns_ = 0;
  uint64_t told_lost_records_ = 0;
  model::LossLedger ledger_;
};

absl::Status OffCpuSession::Start(pid_t pid) {
  auto events = PerfEvents::OpenSwitches(pid);
  if (!events.ok()) return events.status();
  events_ = *std::move(events);
  target_ = static_cast<uint32_t>(pid);
  cpu_count_ = CpuCount(pid);
  if (const auto stat = ReadSchedStat(pid, pid)) {
    waited_before_ns_ = stat->waited_ns;
  }
  processes_.Process(pid).start_ns = ToEpoch(NowNs());
  return absl::OkStatus();
}

void OffCpuSession::Poll() {
  if (events_ == nullptr) return;
  const uint64_t now_ns = NowNs();
  // A ring that fills up matters more than perfect order.
  const bool is_urgent =
      std::ranges::any_of(events_->rings(), [](PerfRing& ring) {
        ring.Refresh();
        return ring.pending_bytes() > ring.size_bytes() / 2;
      });
  Drain(is_urgent ? now_ns : settled_ns_);
  settled_ns_ = now_ns;
  for (int i = 0; i < kMostReadsPerPoll; ++i) {
    const auto thread = clock_.NextToRead(now_ns);
    if (!thread) break;
    ReadRunQueue(*thread, now_ns);
  }
}

void OffCpuSession::ReadRunQueue(const ThreadKey& thread, uint64_t now_ns) {
  const auto stat = ReadSchedStat(thread.pid, thread.tid);
  if (!stat) return;
  clock_.OnRunQueue(thread.tid, stat->waited_ns, now_ns);
}

void OffCpuSession::OnExec(const sampling::CommRecord& comm) {
  if (!clock_.OnExec(comm.pid, comm.tid, comm.time_ns)) return;
  std::optional<DurationNs> before_ns;
  if (comm.tid == target_) std::swap(before_ns, waited_before_ns_);
  if (!before_ns) {
    // What it has waited since its exec is little.
    const auto stat = ReadSchedStat(comm.pid, comm.tid);
    if (stat) before_ns = stat->waited_ns;
  }
  clock_.OnRunQueueBefore(comm.tid, before_ns.value_or(0));
}

void OffCpuSession::Drain(uint64_t until_ns) {
  for (PerfRing& ring : events_->rings()) ring.Refresh();
  sampling::MergeByTime(events_->rings(), until_ns,
                        [this](RecordBytes bytes) { Handle(bytes); });
}

void OffCpuSession::Handle(RecordBytes bytes) {
  const auto header = sampling::DecodeHeader(bytes);
  if (!header || !HandleKnown(bytes, header->type)) {
    ledger_.Add(model::Loss::kRecordsCorrupt, 1);
    clock_.OnLost(sampling::DecodeTime(bytes).value_or(NowNs()));
  }
}

// False if the record is damaged.
bool OffCpuSession::HandleKnown(RecordBytes bytes, uint32_t type) {
  switch (type) {
    case PERF_RECORD_SWITCH: {
      const auto record = sampling::DecodeSwitch(bytes);
      if (record) clock_.OnSwitch(*record);
      return record.has_value();
    }
    case PERF_RECORD_COMM: {
      const auto comm = sampling::DecodeComm(bytes);
      if (!comm) return false;
      if (comm->is_exec) OnExec(*comm);
      processes_.OnName(comm->pid, comm->tid, comm->name, comm->is_exec);
      return true;
    }
    case PERF_RECORD_FORK: {
      const auto task = sampling::DecodeTask(bytes);
      if (!task) return false;
      if (clock_.OnFork(task->pid, task->tid, task->time_ns)) {
        processes_.OnFork(task->pid, task->tid, task->parent_pid,
                          task->parent_tid, ToEpoch(task->time_ns));
      }
      return true;
    }
    case PERF_RECORD_EXIT: {
      const auto task = sampling::DecodeTask(bytes);
      if (!task) return false;
      processes_.OnExit(task->pid, task->tid, ToEpoch(task->time_ns));
      clock_.OnExit(task->tid, task->time_ns);
      return true;
    }
    case PERF_RECORD_LOST: {
      const auto lost = sampling::DecodeLost(bytes);
      const auto time_ns = sampling::DecodeTime(bytes);
      if (!lost || !time_ns) return false;
      told_lost_records_ += *lost;
      clock_.OnLost(*time_ns);
      return true;
    }
    default:
      return true;  // kinds that were not requested
  }
}

absl::Status OffCpuSession::Stop() {
  if (events_ == nullptr) return absl::OkStatus();
  events_->Disable();
  const uint64_t now_ns = NowNs();
  Drain(kForever);
  const sampling::PerfTotals totals = events_->ReadTotals();
  // A full ring tells of its losses only when there is room again.
  if (totals.knows_lost && totals.lost_records > told_lost_records_) {
    clock_.OnLost(now_ns);
  }
  for (const ThreadKey& thread : clock_.LiveThreads()) {
    ReadRunQueue(thread, now_ns);
    if (!ThreadExists(thread.pid, thread.tid)) clock_.OnEndLost(thread.tid);
  }
  clock_.End(now_ns);
  ledger_.Add(model::Loss::kSwitchesLost,
              totals.knows_lost ? totals.lost_records : told_lost_records_);
  ledger_.Add(model::Loss::kThreadsNotTimed, clock_.threads_not_timed());
  for (const PerfRing& ring : events_->rings()) {
    ledger_.Add(model::Loss::kRecordsCorrupt, ring.corrupt_count());
  }
  events_ = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<Collected> OffCpuSession::Collect(model::TraceShard& shard) {
  auto states = std::make_shared<model::ThreadStates>();
  states->cpu_count = cpu_count_;
  for (const auto& [thread, times] : clock_.times()) {
    states->threads.push_back(times);
    states->threads.back().track = processes_.Track(thread.pid, thread.tid);
  }
  processes_.Describe(shard);
  shard.thread_states = std::move(states);
  shard.ledger.Merge(ledger_);
  return Collected{};
}

}  // namespace

std::unique_ptr<ActivitySession> NewOffCpuSession() {
  return std::make_unique<OffCpuSession>();
}

}  // namespace kymo::off_cpu
