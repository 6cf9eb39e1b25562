#include "profiler/plugin/backend_controller.h"

#include <array>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

absl::StatusOr<Collected> CollectWithinMemory(ActivitySession& session,
                                              model::TraceShard& shard) {
  try {
    return session.Collect(shard);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        "not enough memory for what was recorded; record for a shorter time");
  }
}

}  // namespace

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

absl::Status BackendController::Settle(const absl::Status& status, State next) {
  state_ = status.ok() ? next : State::kFailed;
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("backend ", name_, ": ", status.message()));
}

absl::Status BackendController::Prepare(TargetSetup* setup) {
  KYMO_RETURN_IF_ERROR(Expect(State::kMade, "Prepare"));
  return Settle(session_->Prepare(setup), State::kReady);
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

absl::StatusOr<Collected> BackendController::Collect(model::TraceShard& shard) {
  KYMO_RETURN_IF_ERROR(Expect(State::kStopped, "Collect"));
  absl::StatusOr<Collected> collected = CollectWithinMemory(*session_, shard);
  KYMO_RETURN_IF_ERROR(Settle(collected.status(), State::kEmpty));
  if (collected->kept) {
    std::string& why = collected->kept->why;
    why = absl::StrCat("backend ", name_, ": ", why);
  }
  return collected;
}

std::vector<std::string> BackendController::Remarks() const {
  if (state_ != State::kEmpty) return {};
  return session_->Remarks();
}

}  // namespace kymo
