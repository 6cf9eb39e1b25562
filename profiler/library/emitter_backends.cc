#include "profiler/library/emitter_backends.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kymo/emit_itt.h"
#include "kymo/emit_nvtx.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

template <typename Emitter>
class EmitterSession : public ActivitySession {
 public:
  template <typename Options>
  explicit EmitterSession(const Options& options) : emitter_(options) {}

  absl::Status Prepare(TargetSetup*) override { return absl::OkStatus(); }
  absl::Status Start(pid_t) override { return emitter_.Start(); }
  absl::Status SetCollecting(bool collecting) override {
    return collecting ? emitter_.Start() : emitter_.Stop();
  }
  absl::Status Stop() override { return emitter_.Stop(); }
  // The thread that began to emit has to end it.
  DurationNs StopLimitNs() const noexcept override { return kNoStopLimit; }
  absl::StatusOr<Collected> Collect(model::TraceShard&) override {
    return Collected{};
  }

 private:
  Emitter emitter_;
};

std::unique_ptr<ActivitySession> NewNvtxEmitter(const SessionOptions& options) {
  return std::make_unique<EmitterSession<EmitNvtx>>(
      EmitNvtxOptions{.record_shapes = options.record_shapes,
                      .all_threads = options.all_threads});
}

std::unique_ptr<ActivitySession> NewIttEmitter(const SessionOptions& options) {
  return std::make_unique<EmitterSession<EmitItt>>(
      EmitIttOptions{.record_shapes = options.record_shapes,
                     .full_names = options.record_shapes,
                     .all_threads = options.all_threads});
}

class EmitterBackend : public ActivityBackend {
 public:
  using MakeSession =
      std::unique_ptr<ActivitySession> (*)(const SessionOptions& options);

  // `interface` is NVTX or ITT. `advice` says how a tool comes to listen.
  EmitterBackend(std::string name, std::string interface, std::string advice,
                 bool (*is_available)(), MakeSession make_session)
      : interface_(std::move(interface)),
        advice_(std::move(advice)),
        is_available_(is_available),
        make_session_(make_session),
        info_{.name = std::move(name),
              .purpose = absl::StrCat(
                  "shows the operations of the program to the tool that "
                  "listens to ",
                  interface_, ", as ranges"),
              .on_request = true} {}

  const PluginInfo& info() const noexcept override { return info_; }

  std::vector<model::ActivityType> activity_types() const override {
    return {};
  }

  absl::Status Availability(const SessionOptions& options) const override {
    if (options.target == TargetKind::kChildProcess) {
      return absl::FailedPreconditionError(
          "it works within a program only: name it in "
          "ProfileOptions::activities");
    }
    if (is_available_()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        "no tool listens to ", interface_, " in this process: ", advice_));
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    return make_session_(options);
  }

 private:
  const std::string interface_;
  const std::string advice_;
  bool (*const is_available_)();
  const MakeSession make_session_;
  const PluginInfo info_;
};

}  // namespace

std::unique_ptr<ActivityBackend> NewNvtxEmitterBackend() {
  return std::make_unique<EmitterBackend>(
      "emit_nvtx", "NVTX", "start the program under one, such as nsys",
      NvtxIsAvailable, NewNvtxEmitter);
}

std::unique_ptr<ActivityBackend> NewIttEmitterBackend() {
  return std::make_unique<EmitterBackend>(
      "emit_itt", "ITT", "start the program under one, such as VTune",
      IttIsAvailable, NewIttEmitter);
}

absl::Status RegisterEmitterBackends(BackendRegistry& registry) {
  KYMO_RETURN_IF_ERROR(registry.Register(NewIttEmitterBackend()));
  return registry.Register(NewNvtxEmitterBackend());
}

}  // namespace kymo
