#include "backends/off_cpu/own/own_session.h"

#include <string.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/off_cpu/off_cpu_session.h"
#include "backends/off_cpu/totals_session.h"
#include "profiler/base/periodic_thread.h"
#include "profiler/base/status_macros.h"
#include "profiler/record/host/host.h"
#include "profiler/record/own_threads.h"

namespace kymo::off_cpu {
namespace {

constexpr DurationNs kPollPeriodNs = 5 * kNsPerMs;

class OwnSession final : public ActivitySession {
 public:
  ~OwnSession() override {
    thread_.Stop();
    // The kernel does not give a forked child the memory that the recording
    // shares with it.
    if (IsForkedChild()) (void)session_.release();
  }

  absl::Status Prepare(TargetSetup* setup) override {
    session_ = NewOffCpuSession(StackSource::kSamplesAndLooks, &own_);
    refusal_ = session_->Prepare(setup);
    return absl::OkStatus();
  }

  absl::Status Start(pid_t pid) override {
    starter_pid_ = pid;
    const int error =
        thread_.Start(record::kOffCpuThread, kPollPeriodNs, [this] {
          // What it allocates is not the program's.
          record::SetThreadPaused(true);
          const std::lock_guard lock(mutex_);
          if (is_live_) session_->Poll();
        });
    if (error != 0) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "could not start the thread that reads switches: ", strerror(error),
          "; allow this process more threads"));
    }
    const std::lock_guard lock(mutex_);
    own_.collector_tid = thread_.tid();
    if (refusal_.ok()) refusal_ = session_->Start(pid);
    if (!refusal_.ok()) {
      session_ = NewTotalsSession(&own_);
      KYMO_RETURN_IF_ERROR(session_->Start(pid));
    }
    is_live_ = true;
    return absl::OkStatus();
  }

  absl::Status Stop() override {
    thread_.Stop();
    return IsForkedChild() ? absl::OkStatus() : session_->Stop();
  }

  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    if (IsForkedChild()) return Collected{};
    return session_->Collect(shard);
  }

  std::vector<std::string> Remarks() const override {
    if (refusal_.ok()) return {};
    return {absl::StrCat(
        "off_cpu: only the total times of threads were recorded, not their "
        "waits: ",
        refusal_.message())};
  }

 private:
  // The thread may have been in the middle of something at the fork. So a
  // forked child touches neither the lock nor what it guards.
  bool IsForkedChild() const {
    return starter_pid_ != 0 && starter_pid_ != getpid();
  }

  pid_t starter_pid_ = 0;
  absl::Status refusal_;  // why there are only totals
  OwnProcess own_;

  std::mutex mutex_;  // guards the session while the thread runs
  std::unique_ptr<ActivitySession> session_;
  bool is_live_ = false;

  PeriodicThread thread_;  // destroyed first: it uses the rest
};

}  // namespace

std::unique_ptr<ActivitySession> NewOwnSession() {
  return std::make_unique<OwnSession>();
}

}  // namespace kymo::off_cpu
