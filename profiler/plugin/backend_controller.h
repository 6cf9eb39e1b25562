// backend_controller.h - enforces the order of calls on one ActivitySession.
//
//   made -Prepare-> ready -Start-> live -Stop-> stopped -Collect-> empty
//
// A call out of order is kFailedPrecondition and does not reach the session.
// After a failed call the session is `failed` and gets no more calls. The text
// of every error, and of KeptRecording::why, names the backend.
//
// The session may throw: that is a failed call (guarded_call.h). Its Stop may
// hang: after StopLimitNs() the session is failed and given up (stop_within.h).
//
// Threads: one call at a time, as for the session itself.
#ifndef KYMO_PROFILER_PLUGIN_BACKEND_CONTROLLER_H_
#define KYMO_PROFILER_PLUGIN_BACKEND_CONTROLLER_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/kept_recording.h"

namespace kymo {

class BackendController {
 public:
  // `keeps` lives as long as the session: its backend. It may be null.
  BackendController(std::string name, std::unique_ptr<ActivitySession> session,
                    std::shared_ptr<const void> keeps = nullptr);

  absl::Status Prepare(TargetSetup* setup);
  absl::Status Start(pid_t pid);
  // Does nothing unless live. An error means that the session threw.
  absl::Status Poll();
  // An error leaves the session as it is, unless it threw.
  absl::Status SetCollecting(bool collecting);
  absl::Status Dump(const std::string& path);
  absl::Status Stop();
  // The session's. REQUIRES: no call has failed.
  DurationNs PollPeriodNs() const noexcept { return session_->PollPeriodNs(); }
  DurationNs StopLimitNs() const noexcept { return session_->StopLimitNs(); }
  absl::StatusOr<Collected> Collect(model::TraceShard& shard);
  // Empty before Collect.
  std::vector<std::string> Remarks() const;

  // A call has failed, so that the session gets no more calls.
  bool has_failed() const noexcept { return state_ == State::kFailed; }
  const std::string& name() const noexcept { return name_; }

 private:
  enum class State { kMade, kReady, kLive, kStopped, kEmpty, kFailed };

  absl::Status Expect(State state, const char* call) const;
  absl::Status Settle(const absl::Status& status, State next);
  // Makes a call after which the session is live as before, unless it throws.
  template <typename F>
  absl::Status CallWhileLive(const char* call, F f);

  const std::string name_;
  // The session goes first: it may use what is kept.
  const std::shared_ptr<const void> keeps_;
  std::unique_ptr<ActivitySession> session_;  // null: it was given up
  State state_ = State::kMade;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_BACKEND_CONTROLLER_H_
