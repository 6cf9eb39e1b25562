#include "profiler/plugin/backend_controller.h"

#include <array>
#include <new>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/kept_recording.h"

namespace kymo {

BackendController::BackendController(std::string name,
                                     std::unique_ptr<ActivitySession> session)
    : name_(std::move(name)), session_(std::move(session)) {}

absl::Status BackendController::Expect(State state, const char* call) const {
  static constexpr std::array kNames = {"made",    "prepared", "live",
                                        "stopped", "empty",    "failed"};
  if (state_ == state) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("backend ", name_, ": ", call, " needs a session that is ",
                   kNames[static_cast<size_t>(state)], ", and it is ",
                   kNames[static_cast<size_t>(state_)]));
}

absl::Status BackendController::Settle(absl::Status status, State next) {
  if (status.ok()) {
    state_ = next;
    return status;
  }
  // What a session has left in a file is collected.
  state_ = next == State::kEmpty && KeptRecordingPath(status) ? next
                                                              : State::kFailed;
  absl::Status named(status.code(),
                     absl::StrCat("backend ", name_, ": ", status.message()));
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) {
    named.SetPayload(type, payload);
  });
  return named;
}

absl::Status BackendController::Prepare(Environment* environment) {
  KYMO_RETURN_IF_ERROR(Expect(State::kMade, "Prepare"));
  return Settle(session_->Prepare(environment), State::kReady);
}

absl::Status BackendController::Start(pid_t pid) {
  KYMO_RETURN_IF_ERROR(Expect(State::kReady, "Start"));
  return Settle(session_->Start(pid), State::kLive);
}

void BackendController::Poll() {
  if (state_ == State::kLive) session_->Poll();
}

absl::Status BackendController::SetCollecting(bool collecting) {
  KYMO_RETURN_IF_ERROR(Expect(State::kLive, "SetCollecting"));
  return session_->SetCollecting(collecting);
}

absl::Status BackendController::Dump(const std::string& path) {
  KYMO_RETURN_IF_ERROR(Expect(State::kLive, "Dump"));
  return session_->Dump(path);
}

absl::Status BackendController::Stop() {
  KYMO_RETURN_IF_ERROR(Expect(State::kLive, "Stop"));
  return Settle(session_->Stop(), State::kStopped);
}

absl::Status BackendController::Collect(model::TraceShard& shard) {
  KYMO_RETURN_IF_ERROR(Expect(State::kStopped, "Collect"));
  try {
    return Settle(session_->Collect(shard), State::kEmpty);
  } catch (const std::bad_alloc&) {
    return Settle(absl::ResourceExhaustedError(
                      "not enough memory for what was recorded; record for a "
                      "shorter time"),
                  State::kEmpty);
  }
}

std::vector<std::string> BackendController::Remarks() const {
  if (state_ != State::kEmpty) return {};
  return session_->Remarks();
}

}  // namespace kymo
