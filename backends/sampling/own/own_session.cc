#include "backends/sampling/own/own_session.h"

#include <string.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/sampling/perf_session.h"
#include "backends/sampling/running/perf_running.h"
#include "profiler/base/periodic_thread.h"
#include "profiler/base/status_macros.h"
#include "profiler/record/host/host.h"
#include "profiler/record/own_threads.h"

namespace kymo::sampling {
namespace {

constexpr DurationNs kPollPeriodNs = 5 * kNsPerMs;

class OwnSession final : public ActivitySession {
 public:
  explicit OwnSession(const Settings& settings)
      : session_(NewOwnPerfSession(settings, own_)) {}

  ~OwnSession() override {
    thread_.Stop();
    // The kernel does not give a forked child the rings.
    if (IsForkedChild()) (void)session_.release();
  }

  absl::Status Prepare(TargetSetup* setup) override {
    return session_->Prepare(setup);
  }

  absl::Status Start(pid_t pid) override {
    starter_pid_ = pid;
    const int error =
        thread_.Start(record::kSamplingThread, kPollPeriodNs, [this] {
          // What it allocates is not the program's.
          record::SetThreadPaused(true);
          const std::lock_guard lock(mutex_);
          if (is_live_) session_->Poll();
        });
    if (error != 0) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "could not start the thread that reads samples: ", strerror(error),
          "; allow this process more threads"));
    }
    const std::lock_guard lock(mutex_);
    own_.left_out_tid = thread_.tid();
    KYMO_RETURN_IF_ERROR(session_->Start(pid));
    is_live_ = true;
    return absl::OkStatus();
  }

  absl::Status Stop() override {
    thread_.Stop();
    return IsForkedChild() ? absl::OkStatus() : session_->Stop();
  }

  DurationNs StopLimitNs() const noexcept override { return kNoStopLimit; }

  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    if (IsForkedChild()) return Collected{};
    return session_->Collect(shard);
  }

  std::vector<std::string> Remarks() const override {
    return IsForkedChild() ? std::vector<std::string>() : session_->Remarks();
  }

 private:
  // The thread may have been in the middle of something at the fork. So a
  // forked child touches neither the lock nor what it guards.
  bool IsForkedChild() const {
    return starter_pid_ != 0 && starter_pid_ != getpid();
  }

  pid_t starter_pid_ = 0;
  OwnProcess own_;

  std::mutex mutex_;  // guards the session while the thread runs
  std::unique_ptr<ActivitySession> session_;
  bool is_live_ = false;

  PeriodicThread thread_;  // destroyed first: it uses the rest
};

}  // namespace

std::unique_ptr<ActivitySession> NewOwnSession(const Settings& settings) {
  return std::make_unique<OwnSession>(settings);
}

}  // namespace kymo::sampling
