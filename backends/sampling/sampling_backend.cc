#include "backends/sampling/sampling_backend.h"

#include <string>

#include "backends/sampling/perf_events.h"
#include "backends/sampling/perf_session.h"
#include "backends/sampling/sampling_settings.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

using sampling::Sampler;
using sampling::Settings;

// What can be said without looking at the machine.
absl::StatusOr<Settings> CheckedSettings(const SessionOptions& options) {
#if !defined(__linux__) || !defined(__x86_64__)
  return absl::UnimplementedError(
      "sampling needs Linux on x86-64; annotate the program instead");
#endif
  if (options.target != TargetKind::kChildProcess) {
    return absl::FailedPreconditionError(
        "sampling watches a program from outside: start it with "
        "`bazel run //tools:profile -- --activities=sampling PROGRAM`");
  }
  return sampling::ParseSettings(options);
}

class SamplingBackend final : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }
  std::vector<model::ActivityType> activity_types() const override {
    return {model::ActivityType::kCpuSample};
  }
  absl::Status Availability(const SessionOptions& options) const override {
    KYMO_ASSIGN_OR_RETURN(const Settings settings, CheckedSettings(options));
    return sampling::ProbePerf(settings).status();
  }
  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    KYMO_ASSIGN_OR_RETURN(const Settings settings, CheckedSettings(options));
    return sampling::NewPerfSession(settings);
  }

 private:
  const PluginInfo info_{
      .name = "sampling",
      .purpose = "where the CPU time of an unannotated program goes",
      .maturity = Maturity::kStable,
      .options = sampling::SettingOptions()};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewSamplingBackend() {
  return std::make_unique<SamplingBackend>();
}

}  // namespace kymo
