// Long, because one session handles every kind of record.
#include "backends/sampling/perf_session.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/sampling/bias_watch.h"
#include "backends/sampling/perf/cpu_watch.h"
#include "backends/sampling/perf/exec_watch.h"
#include "backends/sampling/perf/rate_watch.h"
#include "backends/sampling/perf/ring_watch.h"
#include "backends/sampling/perf_events.h"
#include "backends/sampling/running/perf_running.h"
#include "backends/sampling/running/running_threads.h"
#include "backends/sampling/running/target_pids.h"
#include "backends/sampling/sample_bias.h"
#include "backends/sampling/sample_store.h"
#include "backends/sampling/undelivered.h"
#include "profiler/base/children_cpu.h"
#include "profiler/base/clock.h"
#include "profiler/base/descriptor.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/base/status_macros.h"
#include "profiler/processes/process_clocks.h"
#include "profiler/record/own_threads.h"

namespace kymo::sampling {
namespace {

constexpr uint64_t kNever = ~uint64_t{0};
constexpr uint32_t kNoTid = ~uint32_t{0};
// Of a program that samples cost too much (perf/rate_watch.h): 100 a second.
// The kernel's tick comes as often or more often, so mostly before the sample.
// Then a switch need not program the CPU's timer.
constexpr DurationNs kSlowPeriodNs = 10 * kNsPerMs;
// A process for which nobody waits has the CPU time of its last reading.
constexpr uint64_t kClockPeriodNs = 20 * kNsPerMs;

TimeNs ToEpoch(uint64_t monotonic_ns) {
  return static_cast<TimeNs>(monotonic_ns) + EpochOffsetNs();
}

// The first few programs, by name.
std::string UnseenText(const std::map<std::string, uint64_t>& programs) {
  constexpr size_t kMostNamed = 5;
  std::string text = "sampling: ";
  size_t named = 0;
  for (const auto& [name, count] : programs) {
    if (named == kMostNamed) break;
    absl::StrAppend(&text, named++ == 0 ? "" : ", ", name);
    if (count > 1) absl::StrAppend(&text, " (", count, " times)");
  }
  if (named < programs.size()) {
    absl::StrAppend(&text, " and ", programs.size() - named, " others");
  }
  return text +
         ": neither samples nor thread times, since the kernel ends perf "
         "events in programs that are set-uid or set-gid, or that you may "
         "execute but not read. Run the first as the user and the group that "
         "they become, and the others after `chmod +r`, or as root";
}

class PerfSession final : public ActivitySession {
 public:
  PerfSession(const Settings& settings,
              std::shared_ptr<SampledProcesses> sampled)
      : settings_(settings),
        sampled_(std::move(sampled)),
        store_(settings.period_ns, {.most_samples = settings.max_samples}),
        period_ns_(settings.period_ns) {
    if (!settings.reads_python) store_.LeavePythonAlone();
  }

  // What runs already, before Prepare; as of RunningProcesses.
  void SetRunning(RunningTarget running, const OwnProcess* own = nullptr) {
    running_.emplace(std::move(running), own);
    is_own_ = own != nullptr;
  }

  absl::Status Prepare(TargetSetup*) override {
    return ProbePerf(settings_).status();
  }
  absl::Status Start(pid_t pid) override;
  void Poll() override;
  absl::Status Stop() override;
  DurationNs StopLimitNs() const noexcept override { return kNoStopLimit; }
  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override;
  std::vector<std::string> Remarks() const override;

 private:
  void PollLocked();
  void WatchRings();
  bool WatchEachCpu();
  absl::Status StartRunning();
  DurationNs CpuNs() const;
  void ReadClocks(uint64_t now_ns);
  void Drain(uint64_t until_ns);
  bool GoOnWithAllProcesses();
  void WatchCpus();
  void SlowDown();
  void EndEvents();
  // Whether a process belongs to the target.
  bool IsOurs(uint32_t pid);
  void Handle(RecordBytes bytes);
  void HandleMap(const MapRecord& record);
  void HandleFork(const TaskRecord& record);
  void HandleExit(const TaskRecord& record);
  void HandleSample(const SampleRecord& record);
  uint32_t ThreadOf(const SampleRecord& record) const;
  void FindUserFrames(const SampleRecord& record, SampleEvent& event);

  const Settings settings_;
  const std::shared_ptr<SampledProcesses> sampled_;
  // Nothing: the target is a child that waits before its exec.
  std::optional<RunningProcesses> running_;
  SampleStore store_;
  std::unique_ptr<PerfEvents> events_;
  bool of_all_processes_ = false;  // what events_ records
  DurationNs period_ns_;           // of events_
  TimeNs start_ns_ = 0;
  // When that began.
  TimeNs all_processes_ns_ = std::numeric_limits<TimeNs>::max();
  BiasWatch watch_;
  RateWatch rate_watch_;
  ExecWatch exec_watch_;
  std::map<std::string, uint64_t> unseen_;  // by program, how often
  uint64_t slow_from_ns_ = kNever;  // from then on there are fewer samples
  uint64_t rare_samples_ = 0;       // of these
  TargetPids pids_{[this](uint32_t pid, uint32_t parent) {
    store_.processes().OnFork(pid, pid, parent, parent,
                              ToEpoch(static_cast<uint64_t>(MonotonicNs())));
  }};
  DurationNs own_threads_ns_ =
      0;                          // samples of Kymo's own threads in the target
  uint64_t threads_ended_ = 0;    // while events_ were the target's own
  DurationNs target_cpu_ns_ = 0;  // while events_ were the target's own
  // When the previous Poll began. Everything older is in the rings by now, so
  // records of different CPUs can be put in order up to here.
  uint64_t settled_ns_ = 0;
  // The records of events_ that count. Events that follow others overlap them.
  uint64_t from_ns_ = 0;
  uint64_t until_ns_ = kNever;
  pid_t pid_ = 0;
  DurationNs children_cpu_before_ns_ = 0;
  // Of a program that Kymo started: each process, as long as it lives.
  processes::ProcessClocks clocks_;
  uint64_t clocks_due_ns_ = 0;
  // Of events_: all samples, the target's, and lost records as far as told.
  uint64_t all_samples_ = 0;
  uint64_t our_samples_ = 0;
  uint64_t told_lost_records_ = 0;
  uint64_t lost_records_ = 0;        // the target's, of events that ended
  std::string unsampled_time_text_;  // empty: nothing to say
  uint64_t corrupt_records_ = 0;
  // By process, the thread that ended last.
  std::unordered_map<uint32_t, uint32_t> last_ended_;
  std::vector<uint64_t> callchain_;
  // Held by whoever reads the rings while watch_for_samples_ runs.
  std::mutex mutex_;
  RingWatch watch_for_samples_;
  // Copies Python's frames. Then watch_for_samples_ waits for wake_.
  CpuWatch cpu_watch_;
  OwnedDescriptor wake_;
  bool is_own_ = false;  // it samples this process
};

absl::Status PerfSession::Start(pid_t pid) {
  if (running_) return StartRunning();
  auto events = PerfEvents::Open(settings_, pid);
  if (!events.ok()) return events.status();
  events_ = *std::move(events);
  sampled_->all = true;
  pids_.Add(static_cast<uint32_t>(pid));
  pid_ = pid;
  children_cpu_before_ns_ = ChildrenCpuNs();
  clocks_.AddRunning(pid);
  start_ns_ = ToEpoch(static_cast<uint64_t>(MonotonicNs()));
  store_.processes().Process(pid).start_ns = start_ns_;
  return absl::OkStatus();
}

absl::Status PerfSession::StartRunning() {
  KYMO_ASSIGN_OR_RETURN(RunningEvents opened, running_->Open(settings_));
  events_ = std::move(opened.events);
  of_all_processes_ = opened.of_all_processes;
  start_ns_ = ToEpoch(static_cast<uint64_t>(MonotonicNs()));
  if (of_all_processes_) all_processes_ns_ = start_ns_;
  absl::Status status = running_->Begin(
      of_all_processes_ ? nullptr : events_.get(), [this] { Drain(kNever); },
      pids_, store_);
  if (!status.ok()) events_ = nullptr;
  sampled_->all = status.ok();
  return status;
}

void PerfSession::Poll() {
  if (events_ == nullptr) return;
  const std::scoped_lock lock(mutex_);
  PollLocked();
  // What Python functions a sample was in is read from the program. It must be
  // read before these have returned.
  if (store_.has_python()) WatchRings();
}

void PerfSession::WatchRings() {
  const bool is_first = !watch_for_samples_.is_running();
  // Threads in this process would be samples themselves.
  if (is_first && !is_own_) {
    wake_ = OwnedDescriptor(
        AboveStandardStreams(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  }
  if (wake_.get() >= 0 && !cpu_watch_.is_running() && !WatchEachCpu()) {
    wake_ = OwnedDescriptor();
  }
  if (!is_first) return;
  watch_for_samples_.Start(
      [this] {
        const std::scoped_lock lock(mutex_);
        return wake_.get() >= 0 ? std::vector{wake_.get()}
                                : events_->descriptors();
      },
      [this] {
        const std::scoped_lock lock(mutex_);
        eventfd_t count = 0;
        if (wake_.get() >= 0) eventfd_read(wake_.get(), &count);
        Drain(static_cast<uint64_t>(MonotonicNs()));
      });
}

// Until the events end.
bool PerfSession::WatchEachCpu() {
  std::vector<CpuWatch::Cpu> cpus;
  for (size_t i = 0; i < events_->rings().size(); ++i) {
    cpus.push_back({.cpu = events_->cpus()[i],
                    .descriptor = events_->descriptors()[i],
                    .look = [this, follower = RingFollower(
                                       events_->rings()[i])]() mutable {
                      follower.Look([this](const SampleBegin& sample) {
                        if (!store_.frame_copies().Take(sample.pid, sample.tid,
                                                        sample.time_ns)) {
                          eventfd_write(wake_.get(), 1);
                        }
                      });
                    }});
  }
  return cpu_watch_.Start(std::move(cpus));
}

void PerfSession::PollLocked() {
  const auto now_ns = static_cast<uint64_t>(MonotonicNs());
  // A ring that fills up matters more than perfect order.
  const bool is_urgent = std::any_of(
      events_->rings().begin(), events_->rings().end(), [](PerfRing& ring) {
        ring.Refresh();
        return ring.pending_bytes() > ring.size_bytes() / 2;
      });
  Drain(is_urgent ? now_ns : settled_ns_);
  settled_ns_ = now_ns;
  pids_.ForgetEnded();
  ReadClocks(now_ns);
  if (of_all_processes_ || slow_from_ns_ != kNever) return;
  if (rate_watch_.IsDue()) return SlowDown();
  if (watch_.IsDue()) WatchCpus();
}

// With 1,000 processes, this takes 2 % of a CPU at most.
void PerfSession::ReadClocks(uint64_t now_ns) {
  if (running_) return running_->ReadClocks(now_ns);
  if (now_ns < clocks_due_ns_) return;
  const DurationNs before_ns = ThreadCpuNs();
  clocks_.Read();
  const auto took_ns = static_cast<uint64_t>(ThreadCpuNs() - before_ns);
  clocks_due_ns_ = now_ns + std::max(kClockPeriodNs, 50 * took_ns);
}

// Goes on with events of all processes. They cost a program that switches often
// nothing, and come at any time of a thread's life. If they are not permitted,
// all stays as it is, and NoteBias says how much that is.
void PerfSession::WatchCpus() {
  if (settings_.all_processes == AllProcesses::kNever) return;
  const auto ring_bytes = [this] {
    const auto rings = events_->rings();
    return rings.empty() ? 0 : rings[0].size_bytes();
  };
  const size_t before_bytes = ring_bytes();
  if (!GoOnWithAllProcesses()) return;
  all_processes_ns_ = ToEpoch(from_ns_);
  // A user may lock only so much memory. With small rings, stack copies are
  // small, too. Now there is room for rings as large as those before.
  if (ring_bytes() < before_bytes) GoOnWithAllProcesses();
}

// Events of all processes take nothing at a switch. Where they are not
// permitted, all stays as it is: the kernel does not change the period of
// events that threads have inherited.
void PerfSession::SlowDown() {
  period_ns_ = kSlowPeriodNs;
  WatchCpus();
  if (of_all_processes_) {
    slow_from_ns_ = static_cast<uint64_t>(MonotonicNs());
  } else {
    period_ns_ = settings_.period_ns;
  }
}

// No record of the target is lost, since the new events begin before the old
// ones end. What both saw counts once: the old ones' records count until a time
// in between, and the new ones' from then on.
bool PerfSession::GoOnWithAllProcesses() {
  Settings settings = settings_;
  settings.period_ns = period_ns_;
  auto events = PerfEvents::Open(settings, PerfEvents::kAllProcesses);
  if (!events.ok()) return false;
  until_ns_ = static_cast<uint64_t>(MonotonicNs());
  EndEvents();
  events_ = *std::move(events);
  of_all_processes_ = true;
  from_ns_ = until_ns_;
  until_ns_ = kNever;
  return true;
}

// Reads what is left of the events.
void PerfSession::EndEvents() {
  events_->Disable();
  cpu_watch_.Stop();
  Drain(kNever);
  for (const PerfRing& ring : events_->rings()) {
    corrupt_records_ += ring.corrupt_count();
  }
  const PerfTotals totals = events_->ReadTotals();
  const uint64_t lost =
      totals.knows_lost ? totals.lost_records : told_lost_records_;
  if (of_all_processes_) {
    lost_records_ += LostOfTarget(lost, our_samples_, all_samples_);
  } else {
    lost_records_ += lost;
    target_cpu_ns_ += static_cast<DurationNs>(totals.cpu_time_ns);
  }
  if (lost > 0) pids_.OnLost();
  all_samples_ = our_samples_ = told_lost_records_ = 0;
}

void PerfSession::Drain(uint64_t until_ns) {
  for (PerfRing& ring : events_->rings()) ring.Refresh();
  MergeByTime(events_->rings(), until_ns,
              [this](RecordBytes bytes) { Handle(bytes); });
}

void PerfSession::Handle(RecordBytes bytes) {
  if (!IsWithin(bytes, from_ns_, until_ns_)) return;
  const auto header = DecodeHeader(bytes);
  bool is_good = header.has_value();
  switch (is_good ? header->type : 0) {
    case PERF_RECORD_SAMPLE:
      if (const auto sample = DecodeSample(bytes, events_->layout())) {
        HandleSample(*sample);
        return;
      }
      break;
    case PERF_RECORD_MMAP2:
      if (const auto map = DecodeMap(bytes)) return HandleMap(*map);
      break;
    case PERF_RECORD_COMM:
      if (const auto comm = DecodeComm(bytes)) {
        if (!IsOurs(comm->pid)) return;
        if (comm->is_exec) {
          store_.OnThreadEnd(comm->tid);
          exec_watch_.OnExec(comm->pid);
        }
        store_.processes().OnName(comm->pid, comm->tid, comm->name,
                                  comm->is_exec);
        return;
      }
      break;
    case PERF_RECORD_FORK:
      if (const auto task = DecodeTask(bytes)) return HandleFork(*task);
      break;
    case PERF_RECORD_EXIT:
      if (const auto task = DecodeTask(bytes)) return HandleExit(*task);
      break;
    case PERF_RECORD_LOST:
      if (const auto lost = DecodeLost(bytes)) {
        told_lost_records_ += *lost;
        pids_.OnLost();
        exec_watch_.OnLost();
        return;
      }
      break;
    default:
      return;  // throttling, and kinds that were not requested
  }
  ++corrupt_records_;
}

bool PerfSession::IsOurs(uint32_t pid) {
  if (!of_all_processes_) pids_.Add(pid);
  return pids_.Has(pid);
}

void PerfSession::HandleMap(const MapRecord& record) {
  if (!IsOurs(record.pid)) return;
  exec_watch_.OnMap(record.pid);
  store_.OnMap(record);
}

void PerfSession::HandleFork(const TaskRecord& record) {
  if (!of_all_processes_) pids_.Add(record.parent_pid);
  if (!pids_.OnFork(record.pid, record.parent_pid)) return;
  if (running_) {
    running_->OnFork(record, *events_);
  } else if (record.pid != record.parent_pid) {
    clocks_.AddNew(static_cast<pid_t>(record.pid));
  }
  store_.processes().OnFork(record.pid, record.tid, record.parent_pid,
                            record.parent_tid, ToEpoch(record.time_ns));
}

void PerfSession::HandleExit(const TaskRecord& record) {
  if (!IsOurs(record.pid)) return;
  if (exec_watch_.OnExit(record.pid)) {
    ++unseen_[store_.processes().NameOf(record.pid)];
    ++sampled_->unseen_programs;
  }
  if (!of_all_processes_) ++threads_ended_;
  last_ended_[record.pid] = record.tid;
  watch_.OnThreadEnd(record.tid);
  rate_watch_.OnThreadEnd(record.tid);
  store_.OnThreadEnd(record.tid);
  if (store_.processes().OnExit(record.pid, record.tid,
                                ToEpoch(record.time_ns))) {
    pids_.OnExit(record.pid);
    store_.OnEnd(record.pid);
    if (running_) running_->OnExit(record.pid);
    clocks_.Forget(static_cast<pid_t>(record.pid));
  }
}

void PerfSession::FindUserFrames(const SampleRecord& record,
                                 SampleEvent& event) {
  callchain_.clear();
  if (record.has_registers) {
    event.has_registers = true;
    event.registers = record.registers;
    event.stack = record.stack;
    event.stack_was_cut = record.stack_was_cut;
    return;
  }
  for (size_t i = 0; i < record.callchain_size(); ++i) {
    const uint64_t address = record.callchain_at(i);
    // The kernel marks where its own part and the user's begin.
    if (address < static_cast<uint64_t>(PERF_CONTEXT_MAX)) {
      callchain_.push_back(address);
    }
  }
  if (callchain_.empty() && !record.in_kernel) {
    callchain_.push_back(record.instruction);  // a 32-bit thread
    store_.AddLoss(model::Loss::kStacksIncomplete, 1);
  }
  event.callchain = callchain_;
}

// At the very end of a thread the kernel has taken its number back. Events of
// all processes still see it run.
uint32_t PerfSession::ThreadOf(const SampleRecord& record) const {
  if (record.tid != kNoTid) return record.tid;
  const auto ended = last_ended_.find(record.pid);
  return ended == last_ended_.end() ? record.pid : ended->second;
}

void PerfSession::HandleSample(const SampleRecord& record) {
  ++all_samples_;
  if (!IsOurs(record.pid)) return;
  ++our_samples_;
  const uint32_t tid = ThreadOf(record);
  if (record::IsThreadOfKymo(store_.processes().Thread(record.pid, tid).name)) {
    own_threads_ns_ += static_cast<DurationNs>(record.period_ns);
    return;
  }
  SampleEvent event{.pid = record.pid,
                    .tid = tid,
                    .time_ns = ToEpoch(record.time_ns),
                    .copied_ns = record.time_ns,
                    .weight_ns = static_cast<DurationNs>(record.period_ns)};
  if (record.in_kernel) event.kernel_address = record.instruction;
  if (event.weight_ns >= 2 * settings_.period_ns) ++rare_samples_;
  watch_.OnSample(tid, event.kernel_address);
  if (settings_.may_slow_down && !of_all_processes_ && !is_own_) {
    rate_watch_.OnSample(record.pid, tid);
  }
  FindUserFrames(record, event);
  store_.OnSample(event);
}

// The perf clock is exact, except that it includes time that a hypervisor took
// away. The kernel's other clocks leave such time out. But that of children
// misses processes that nobody waited for, and our readings miss the last
// milliseconds of a process. So take the larger of these, and of that and the
// perf clock the smaller. Events of all processes do not know the target's
// time.
DurationNs PerfSession::CpuNs() const {
  if (running_) {
    // Events do not know of a thread that has none.
    return std::max(target_cpu_ns_, running_->cpu_ns());
  }
  const DurationNs told_ns = std::max(
      ChildrenCpuNs(pid_) - children_cpu_before_ns_, clocks_.total_ns());
  if (told_ns <= 0) return target_cpu_ns_;
  return of_all_processes_ ? told_ns : std::min(target_cpu_ns_, told_ns);
}

absl::Status PerfSession::Stop() {
  if (events_ == nullptr) return absl::OkStatus();
  watch_for_samples_.Stop();
  if (running_) {
    running_->ReadClocks(kNever);
  } else {
    clocks_.Read();
  }
  EndEvents();
  const DurationNs cpu_ns = std::max(CpuNs() - own_threads_ns_, DurationNs{0});
  // Of this process and of children, the clock is not that exact.
  const bool knows_clock = running_ && running_->cpu_ns() > 0;
  const uint64_t lost =
      knows_clock ? LostSamples(lost_records_,
                                cpu_ns - store_.total_weight_ns(), period_ns_)
                  : lost_records_;
  store_.AddLoss(model::Loss::kSamplesLost, lost);
  store_.AddLoss(model::Loss::kRecordsCorrupt, corrupt_records_);
  if (!running_) {
    store_.AddLoss(model::Loss::kProcessesNotRecorded,
                   sampled_->unseen_programs);
  }
  const auto lost_ns = static_cast<DurationNs>(lost) * period_ns_;
  const DurationNs sampled_ns = store_.total_weight_ns() + lost_ns;
  // Events of all processes come at times of the CPU, whoever is on it then.
  const bool is_chance =
      of_all_processes_ && IsChance(cpu_ns - sampled_ns, cpu_ns, period_ns_);
  const Undelivered undelivered =
      is_chance
          ? Undelivered()
          : UndeliveredSamples(cpu_ns, sampled_ns, period_ns_, threads_ended_);
  const bool is_much = undelivered != Undelivered();
  if (events_->samples_kernel()) {
    store_.AddLossPart(
        {model::Loss::kSamplesNotDelivered, "perf",
         "perf events miss part of what the kernel does when a thread goes to "
         "sleep, and may miss more if sampling_hz is high"},
        undelivered.lost);
    store_.AddLoss(model::Loss::kSamplesNotDue, undelivered.at_ends);
  } else if (is_much) {
    unsampled_time_text_ =
        KernelTimeText(cpu_ns, sampled_ns, period_ns_, threads_ended_);
  }
  if (!is_much && knows_clock) {
    unsampled_time_text_ = UnsampledTimeText(cpu_ns, sampled_ns, period_ns_);
  }
  events_ = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<Collected> PerfSession::Collect(model::TraceShard& shard) {
  store_.Collect(shard);
  const TimeNs slow_ns =
      slow_from_ns_ == kNever ? all_processes_ns_ : ToEpoch(slow_from_ns_);
  NoteBias(shard, all_processes_ns_, std::min(all_processes_ns_, slow_ns));
  shard.ledger.Add(model::Loss::kSamplesRare, rare_samples_);
  return Collected{};
}

std::vector<std::string> PerfSession::Remarks() const {
  std::vector<std::string> remarks = RemarksOf(store_);
  if (!unsampled_time_text_.empty()) remarks.push_back(unsampled_time_text_);
  if (!running_ && !unseen_.empty()) remarks.push_back(UnseenText(unseen_));
  if (running_ && running_->unwatched_ns() > 20 * kNsPerMs) {
    remarks.push_back(absl::StrCat(
        "sampling: ", running_->unwatched_ns() / kNsPerMs,
        " ms of CPU time have no samples, because a process began a set-uid "
        "program, or one that its user may not read: there the kernel ends its "
        "recording, also root's"));
  }
  if (running_ && running_->refused() != 0) {
    remarks.push_back("sampling: " + MissingText(running_->refused()));
  }
  if (of_all_processes_ && all_processes_ns_ > start_ns_) {
    remarks.push_back(absl::StrCat(
        "sampling: from ", (all_processes_ns_ - start_ns_) / kNsPerMs,
        " ms on, took samples of all that the machine runs, and dropped those "
        "of other programs; --sampling_all_processes=never prevents it"));
  }
  if (slow_from_ns_ != kNever) {
    remarks.push_back(absl::StrCat(
        "sampling: from ", (ToEpoch(slow_from_ns_) - start_ns_) / kNsPerMs,
        " ms on, took ", kNsPerSecond / kSlowPeriodNs,
        " samples a second instead of ", kNsPerSecond / settings_.period_ns,
        ", because no CPU is free and the program switches often, where "
        "samples cost it most; --sampling_hz=",
        kNsPerSecond / settings_.period_ns, " prevents it"));
  }
  return remarks;
}

}  // namespace

std::unique_ptr<ActivitySession> NewPerfSession(
    const Settings& settings, std::shared_ptr<SampledProcesses> sampled,
    std::optional<RunningTarget> running) {
  auto session = std::make_unique<PerfSession>(settings, std::move(sampled));
  if (running) session->SetRunning(*std::move(running));
  return session;
}

std::unique_ptr<ActivitySession> NewOwnPerfSession(const Settings& settings,
                                                   const OwnProcess& own) {
  Settings of_threads = settings;
  of_threads.all_processes = AllProcesses::kNever;
  auto session = std::make_unique<PerfSession>(
      of_threads, std::make_shared<SampledProcesses>());
  session->SetRunning({}, &own);
  return session;
}

}  // namespace kymo::sampling
