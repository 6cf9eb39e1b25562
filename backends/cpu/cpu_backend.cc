#include "backends/cpu/cpu_backend.h"

#include <vector>

#include "backends/cpu/cpu_settings.h"
#include "backends/stream/stream_session.h"
#include "backends/stream/stream_settings.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

record::RecordFlags WantedFlags(const SessionOptions& options) {
  record::RecordFlags flags = 0;
  if (options.record_shapes) flags |= record::kGateInputs;
  if (options.with_stack) flags |= record::kGateStacks;
  if (options.with_modules) flags |= record::kGateModules;
  if (options.capture_overload_names) flags |= record::kGateOverloads;
  return flags;
}

class CpuBackend : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  std::vector<model::ActivityType> activity_types() const override {
    return {model::ActivityType::kCpuOp, model::ActivityType::kUserAnnotation,
            model::ActivityType::kCpuInstantEvent};
  }

  bool CanAttach() const override { return true; }

  absl::Status Availability(const SessionOptions& options) const override {
    return stream::StreamAvailability(options);
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    KYMO_ASSIGN_OR_RETURN(const cpu::CpuSettings settings,
                          cpu::ReadCpuSettings(options));
    if (!settings.ranges) return stream::NewStreamSession(options, {});
    return stream::NewStreamSession(
        options, {.ranges = true, .flags = WantedFlags(options)});
  }

 private:
  const PluginInfo info_ = {
      .name = "cpu",
      .purpose = "annotated ranges, instants and counters of the program",
      .settings =
          JoinSettings({stream::StreamSettingInfos(), cpu::CpuSettingInfos()})};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewCpuBackend() {
  return std::make_unique<CpuBackend>();
}

}  // namespace kymo
