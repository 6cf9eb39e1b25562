#include "backends/nvtx/nvtx_backend.h"

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/stream/stream_session.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/settings.h"
#include "profiler/record/host/host.h"
#include "profiler/record/tool_variables.h"

namespace kymo {
namespace {

struct NvtxSettings {
  bool capture = true;
};

const SettingTable<NvtxSettings>& NvtxTable() {
  static const auto& table = *new SettingTable<NvtxSettings>(
      "nvtx", {{.name = "capture",
                .value = setting::Switch(&NvtxSettings::capture),
                .purpose = "Record what libraries say through NVTX.",
                .old_name = "capture_nvtx"}});
  return table;
}

class NvtxBackend : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  std::vector<model::ActivityType> activity_types() const override {
    return {model::ActivityType::kNvtxRange};
  }

  absl::Status Availability(const SessionOptions&) const override {
    return absl::OkStatus();
  }

  // Beside `cpu`, unless the setting says otherwise.
  bool IsWanted(const std::set<std::string>& named,
                const SessionOptions& options) const override {
    if (named.contains(info_.name)) return true;
    const absl::StatusOr<NvtxSettings> settings =
        NvtxTable().Read(options.settings);
    return settings.ok() && settings->capture &&
           (named.empty() || named.contains("cpu"));
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    KYMO_ASSIGN_OR_RETURN(
        const NvtxSettings settings,
        NvtxTable().Read(options.settings, {.capture = true}));
    if (!settings.capture) {
      return absl::InvalidArgumentError(
          "the activity nvtx is asked for, and nvtx_capture=0 forbids it: "
          "leave one of them out");
    }
    return stream::NewStreamSession(
        options,
        {.flags = record::kGateNvtx,
         .libraries = {{.variable = record::kNvtxToolVariable,
                        .file = "",
                        .next_variable = record::kNextNvtxToolVariable}}});
  }

 private:
  const PluginInfo info_ = {.name = "nvtx",
                            .purpose = "what libraries say through NVTX",
                            .settings = NvtxTable().infos()};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewNvtxBackend() {
  return std::make_unique<NvtxBackend>();
}

}  // namespace kymo
