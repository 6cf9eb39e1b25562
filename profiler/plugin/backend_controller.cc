#include "profiler/plugin/backend_controller.h"

#include <array>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/guarded_call.h"
#include "profiler/plugin/stop_within.h"

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
                                     std::unique_ptr<ActivitySession> session,
                                     std::shared_ptr<const void> keeps)
    : name_(std::move(name)),
      keeps_(std::move(keeps)),
      session_(std::move(session)) {}

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
  return Settle(
      GuardedCall("Prepare", [&] { return session_->Prepare(setup); }),
      State::kReady);
}

absl::Status BackendController::Start(pid_t pid) {
  KYMO_RETURN_IF_ERROR(Expect(State::kReady, "Start"));
  return Settle(GuardedCall("Start", [&] { return session_->Start(pid); }),
                State::kLive);
}

template <typename F>
absl::Status BackendController::CallWhileLive(const char* call, F f) {
  absl::Status returned;
  KYMO_RETURN_IF_ERROR(Settle(GuardedCall(call,
                                          [&] {
                                            returned = f();
                                            return absl::OkStatus();
                                          }),
                              State::kLive));
  return returned;
}

absl::Status BackendController::Poll() {
  if (state_ != State::kLive) return absl::OkStatus();
  return CallWhileLive("Poll", [&] {
    session_->Poll();
    return absl::OkStatus();
  });
}

absl::Status BackendController::SetCollecting(bool collecting) {
  KYMO_RETURN_IF_ERROR(Expect(State::kLive, "SetCollecting"));
  return CallWhileLive("SetCollecting",
                       [&] { return session_->SetCollecting(collecting); });
}

absl::Status BackendController::Dump(const std::string& path) {
  KYMO_RETURN_IF_ERROR(Expect(State::kLive, "Dump"));
  return CallWhileLive("Dump", [&] { return session_->Dump(path); });
}

absl::Status BackendController::Stop() {
  KYMO_RETURN_IF_ERROR(Expect(State::kLive, "Stop"));
  return Settle(StopWithin(session_->StopLimitNs(), session_, keeps_),
                State::kStopped);
}

absl::StatusOr<Collected> BackendController::Collect(model::TraceShard& shard) {
  KYMO_RETURN_IF_ERROR(Expect(State::kStopped, "Collect"));
  absl::StatusOr<Collected> collected = GuardedCall(
      "Collect", [&] { return CollectWithinMemory(*session_, shard); });
  KYMO_RETURN_IF_ERROR(Settle(collected.status(), State::kEmpty));
  if (collected->kept) {
    std::string& why = collected->kept->why;
    why = absl::StrCat("backend ", name_, ": ", why);
  }
  return collected;
}

std::vector<std::string> BackendController::Remarks() const {
  if (state_ != State::kEmpty) return {};
  using Texts = std::vector<std::string>;
  absl::StatusOr<Texts> remarks = GuardedCall(
      "Remarks",
      [&]() -> absl::StatusOr<Texts> { return session_->Remarks(); });
  if (remarks.ok()) return *std::move(remarks);
  return {absl::StrCat("backend ", name_, ": ", remarks.status().message())};
}

}  // namespace kymo
