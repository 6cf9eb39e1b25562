#include "backends/itt/itt_backend.h"

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

struct IttSettings {
  bool capture = false;
};

const SettingTable<IttSettings>& IttTable() {
  static const auto& table = *new SettingTable<IttSettings>(
      "itt", {{.name = "capture",
               .value = setting::Switch(&IttSettings::capture),
               .purpose = "Record what libraries say through ITT, such as "
                          "oneTBB each of its tasks.",
               .old_name = "capture_itt"}});
  return table;
}

class IttBackend : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  std::vector<model::ActivityType> activity_types() const override {
    return {model::ActivityType::kIttTask};
  }

  absl::Status Availability(const SessionOptions&) const override {
    return absl::OkStatus();
  }

  // Beside `cpu`, unless the setting says otherwise.
  bool IsWanted(const std::set<std::string>& named,
                const SessionOptions& options) const override {
    if (named.contains(info_.name)) return true;
    const absl::StatusOr<IttSettings> settings =
        IttTable().Read(options.settings);
    return settings.ok() && settings->capture &&
           (named.empty() || named.contains("cpu"));
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    KYMO_ASSIGN_OR_RETURN(const IttSettings settings,
                          IttTable().Read(options.settings, {.capture = true}));
    if (!settings.capture) {
      return absl::InvalidArgumentError(
          "the activity itt is asked for, and itt_capture=0 forbids it: "
          "leave one of them out");
    }
    return stream::NewStreamSession(
        options,
        {.flags = record::kGateItt,
         .libraries = {{.variable = record::kIttToolVariable,
                        .file = "",
                        .next_variable = record::kNextIttToolVariable}}});
  }

 private:
  const PluginInfo info_ = {.name = "itt",
                            .purpose = "what libraries say through ITT",
                            .settings = IttTable().infos()};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewIttBackend() {
  return std::make_unique<IttBackend>();
}

}  // namespace kymo
