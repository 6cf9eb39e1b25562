// backend_controller.h - enforces the order of calls on one ActivitySession.
//
//   made -Prepare-> ready -Start-> live -Stop-> stopped -Collect-> empty
//
// A call out of order is kFailedPrecondition and does not reach the session.
// After a failed call the session is `failed` and gets no more calls. The text
// of every error, and of KeptRecording::why, names the backend.
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
  BackendController(std::string name, std::unique_ptr<ActivitySession> session);

  absl::Status Prepare(TargetSetup* setup);
  absl::Status Start(pid_t pid);
  // Does nothing unless live.
  void Poll();
  absl::Status SetCollecting(bool collecting);
  // A failure leaves the session as it is.
  absl::Status Dump(const std::string& path);
  absl::Status Stop();
  absl::StatusOr<Collected> Collect(model::TraceShard& shard);
  // Empty before Collect.
  std::vector<std::string> Remarks() const;

  const std::string& name() const noexcept { return name_; }

 private:
  enum class State { kMade, kReady, kLive, kStopped, kEmpty, kFailed };

  absl::Status Expect(State state, const char* call) const;
  absl::Status Settle(const absl::Status& status, State next);

  const std::string name_;
  const std::unique_ptr<ActivitySession> session_;
  State state_ = State::kMade;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_BACKEND_CONTROLLER_H_
