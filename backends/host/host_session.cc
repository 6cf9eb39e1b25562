#include "backends/host/host_session.h"

#include <string.h>
#include <unistd.h>

#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/host/counter_log.h"
#include "backends/host/file_reader.h"
#include "backends/host/process_tree.h"
#include "profiler/base/clock.h"
#include "profiler/base/periodic_thread.h"
#include "profiler/base/status_macros.h"
#include "profiler/record/host/host.h"
#include "profiler/record/own_threads.h"

namespace kymo::host {
namespace {

// Reads on a thread of its own, not in Poll(): a session in this process is not
// polled, and the command polls late while it copies much.
class HostSession final : public ActivitySession {
 public:
  HostSession(const HostSettings& settings, TargetKind target,
              const HostPaths& paths)
      : settings_(settings),
        target_(target),
        paths_(paths),
        log_(settings.buffer_bytes / sizeof(model::CounterSample)) {}

  absl::Status Prepare(TargetSetup*) override { return absl::OkStatus(); }

  absl::Status Start(pid_t pid) override {
    target_pid_ = pid;
    starter_pid_ = getpid();
    // A child still waits before its exec.
    Begin(/*is_new=*/target_ == TargetKind::kChildProcess);
    const int error = thread_.Start(record::kHostThread,
                                    settings_.period_ms * kNsPerMs, [this] {
                                      // What it allocates is not the program's.
                                      record::SetThreadPaused(true);
                                      const std::lock_guard lock(mutex_);
                                      if (is_collecting_) Read();
                                    });
    if (error == 0) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat(
        "could not start the thread that reads counters: ", strerror(error),
        "; allow this process more threads"));
  }

  absl::Status SetCollecting(bool collecting) override {
    if (IsForkedChild()) return absl::OkStatus();
    const std::lock_guard lock(mutex_);
    if (collecting == is_collecting_) return absl::OkStatus();
    if (collecting) {
      Begin(/*is_new=*/false);
    } else {
      Read();
      // A rate would hold until the next one, and so count in a pause.
      machine_->Pause(last_reading_ns_, log_);
      processes_->Pause(last_reading_ns_, log_);
      is_collecting_ = false;
    }
    return absl::OkStatus();
  }

  absl::Status Stop() override {
    thread_.Stop();
    if (IsForkedChild()) return absl::OkStatus();
    // The rest of a period is worth a reading only if it is long enough for
    // rates; a first reading alone has none.
    const bool is_long =
        2 * (Now() - last_reading_ns_) >= settings_.period_ms * kNsPerMs;
    if (is_collecting_ && (is_long || readings_ == 1)) Read();
    return absl::OkStatus();
  }

  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    if (!IsForkedChild()) log_.MoveTo(shard);
    return Collected{};
  }

  std::vector<std::string> Remarks() const override {
    std::vector<std::string> remarks;
    if (IsForkedChild()) return remarks;
    const std::lock_guard lock(mutex_);
    for (const auto& [kind, error] : reader_.unreadable()) {
      remarks.push_back(absl::StrCat("host: ", kind, " could not be read (",
                                     strerror(error),
                                     "): its counters are missing"));
    }
    if (left_out_processes_) {
      remarks.push_back(absl::StrCat(
          "host: the target had more than ", settings_.processes,
          " processes at a time, and the others have no counters; raise "
          "host_processes"));
    }
    return remarks;
  }

 private:
  static TimeNs Now() { return MonotonicNs() + EpochOffsetNs(); }

  // The thread may have been in the middle of a reading at the fork. So a
  // forked child touches neither the lock, which nobody would give back there,
  // nor what it guards.
  bool IsForkedChild() const {
    return starter_pid_ != 0 && starter_pid_ != getpid();
  }

  // Rates count from here on.
  void Begin(bool is_new) {
    machine_.emplace(paths_, target_pid_, settings_.cores);
    processes_.emplace(paths_.proc, target_pid_, is_new,
                       static_cast<size_t>(settings_.processes));
    is_collecting_ = true;
    readings_ = 0;
    Read();
  }

  void Read() noexcept {
    last_reading_ns_ = Now();
    ++readings_;
    try {
      machine_->Read(last_reading_ns_, reader_, log_);
      processes_->Read(last_reading_ns_, reader_, log_);
      left_out_processes_ = left_out_processes_ || processes_->left_out_any();
    } catch (const std::bad_alloc&) {
      log_.CountLost(1);
    }
  }

  const HostSettings settings_;
  const TargetKind target_;
  const HostPaths paths_;
  pid_t target_pid_ = 0;
  pid_t starter_pid_ = 0;

  // While the thread runs, it guards what follows.
  mutable std::mutex mutex_;
  FileReader reader_;
  CounterLog log_;
  std::optional<MachineCounters> machine_;
  std::optional<ProcessTree> processes_;
  bool is_collecting_ = false;
  bool left_out_processes_ = false;
  int64_t readings_ = 0;  // since Begin
  TimeNs last_reading_ns_ = 0;

  PeriodicThread thread_;  // destroyed first: it uses the rest
};

}  // namespace

std::unique_ptr<ActivitySession> NewHostSession(const HostSettings& settings,
                                                TargetKind target,
                                                const HostPaths& paths) {
  return std::make_unique<HostSession>(settings, target, paths);
}

}  // namespace kymo::host
