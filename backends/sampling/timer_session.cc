#include "backends/sampling/timer_session.h"

#include <fcntl.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/sampling/elf_program.h"
#include "backends/sampling/sample_ring_reader.h"
#include "backends/sampling/sample_store.h"
#include "backends/sampling/target/target_timer.h"
#include "backends/sampling/undelivered.h"
#include "profiler/base/children_cpu.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "profiler/record/run_by_musl.h"

namespace kymo::sampling {
namespace {

// Lasts for about a second of one busy CPU at 1000 Hz, or 10 ms of a hundred
// CPUs.
constexpr uint32_t kCellCount = 1024;

class TimerSession final : public ActivitySession {
 public:
  explicit TimerSession(const Settings& settings)
      : settings_(settings),
        cell_bytes_(settings.stack_bytes == 0
                        ? kMaxStackBytes
                        : std::max(settings.stack_bytes, kLeastCellBytes)),
        store_(settings.period_ns, {.most_samples = settings.max_samples}) {}

  absl::Status Prepare(TargetSetup* setup) override;
  absl::Status Start(pid_t pid) override;
  void Poll() override;
  absl::Status Stop() override;
  DurationNs StopLimitNs() const noexcept override { return kNoStopLimit; }
  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override;
  std::vector<std::string> Remarks() const override;

 private:
  void HandleCell(const TimerSample& cell);
  void HandleSample(const TimerSample& sample);

  const Settings settings_;
  const uint32_t cell_bytes_;
  SampleStore store_;
  std::unique_ptr<SampleRingReader> reader_;
  pid_t pid_ = 0;
  DurationNs children_cpu_before_ns_ = 0;
  std::vector<uint64_t> callchain_;
  std::vector<std::string> stop_remarks_;
};

absl::Status TimerSession::Prepare(TargetSetup* setup) {
  KYMO_ASSIGN_OR_RETURN(
      reader_,
      SampleRingReader::Create(settings_.period_ns, cell_bytes_, kCellCount));
  if (setup != nullptr) {
    setup->environment[kTargetTimerVariable] = reader_->path();
  }
  return absl::OkStatus();
}

absl::Status TimerSession::Start(pid_t pid) {
  pid_ = pid;
  children_cpu_before_ns_ = ChildrenCpuNs();
  store_.processes().Process(pid).start_ns = MonotonicNs() + EpochOffsetNs();
  return absl::OkStatus();
}

void TimerSession::Poll() {
  if (reader_ == nullptr) return;
  reader_->Drain([this](const TimerSample& cell) { HandleCell(cell); });
}

void TimerSession::HandleCell(const TimerSample& cell) {
  store_.processes().OnTimerSample(cell.pid, cell.tid, cell.parent_pid,
                                   cell.image_ns, cell.thread_name);
  if (cell.kind != kCellFile) return HandleSample(cell);
  store_.OnMap(
      {.pid = cell.pid,
       .address = cell.file.start,
       .size_bytes = cell.file.end - cell.file.start,
       .file_offset = cell.file.file_offset,
       .file = {
           .path = std::string(cell.path),
           .build_id = {},
           .inode = cell.file.inode,
           // A deleted file is not the one that has its name.
           .mapped_ns = cell.is_deleted ? 0 : cell.time_ns + EpochOffsetNs()}});
}

void TimerSession::HandleSample(const TimerSample& sample) {
  SampleEvent event{.pid = sample.pid,
                    .tid = sample.tid,
                    .time_ns = sample.time_ns + EpochOffsetNs(),
                    .weight_ns = sample.tick_count * settings_.period_ns};
  if (sample.kind == kCellAddresses) {
    callchain_.assign(sample.addresses.begin(), sample.addresses.end());
    --callchain_.front();  // it is a place, not a return address
    event.callchain = callchain_;
    event.stack_was_cut = sample.is_cut;
  } else {
    event.has_registers = true;
    event.registers = sample.registers;
    event.stack = sample.stack;
    event.stack_was_cut = sample.stack.size() >= cell_bytes_;
  }
  store_.OnSample(event);
}

absl::Status TimerSession::Stop() {
  if (reader_ == nullptr) return absl::OkStatus();
  reader_->Disable();
  Poll();
  const uint64_t lost = reader_->LostTicks();
  store_.AddLoss(model::Loss::kSamplesLost, lost);
  store_.AddLoss(model::Loss::kRecordsCorrupt, reader_->unsound_cells());
  const auto lost_ns = static_cast<DurationNs>(lost) * settings_.period_ns;
  store_.AddLossPart(
      {model::Loss::kSamplesNotDelivered, "timer",
       "timers miss static programs and threads of a few milliseconds, which "
       "sampling_sampler=perf sees"},
      UndeliveredSamples(ChildrenCpuNs(pid_) - children_cpu_before_ns_,
                         store_.total_weight_ns() + lost_ns,
                         settings_.period_ns));
  stop_remarks_ = reader_->StopRemarks();
  reader_ = nullptr;
  return absl::OkStatus();
}

std::vector<std::string> TimerSession::Remarks() const {
  std::vector<std::string> remarks = RemarksOf(store_);
  remarks.insert(remarks.end(), stop_remarks_.begin(), stop_remarks_.end());
  return remarks;
}

absl::StatusOr<Collected> TimerSession::Collect(model::TraceShard& shard) {
  store_.Collect(shard);
  return Collected{};
}

}  // namespace

absl::Status CheckTimerTarget(const std::string& target_path) {
  const ElfProgram program = InspectProgram(target_path);
  if (program.changes_user) {
    return absl::FailedPreconditionError(
        absl::StrCat(target_path,
                     " is set-uid or set-gid: the loader ignores what we "
                     "preload; run the command as that user"));
  }
  if (program.is_static) {
    return absl::FailedPreconditionError(absl::StrCat(
        target_path,
        " is linked statically, so that no timer can be loaded into it: link "
        "it dynamically, or sample it with --sampling_sampler=perf"));
  }
  if (IsRunByMusl(AT_FDCWD, target_path.c_str())) {
    return absl::FailedPreconditionError(absl::StrCat(
        target_path,
        " is run by musl, into which no timer can be loaded: link it with "
        "glibc, or sample it with --sampling_sampler=perf"));
  }
  return absl::OkStatus();
}

int KernelTickHz() {
  // The coarse clock advances once per tick.
  timespec tick;
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_nsec <= 0) {
    return 250;
  }
  return static_cast<int>((kNsPerSecond + tick.tv_nsec / 2) / tick.tv_nsec);
}

std::unique_ptr<ActivitySession> NewTimerSession(const Settings& settings) {
  return std::make_unique<TimerSession>(settings);
}

}  // namespace kymo::sampling
