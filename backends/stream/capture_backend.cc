#include "backends/stream/capture_backend.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/stream/stream_session.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/settings.h"

namespace kymo::stream {
namespace {

// A table takes its defaults from the type.
template <bool kJoinsCpu>
struct CaptureSettings {
  bool capture = kJoinsCpu;
};

template <typename Settings>
class CaptureBackend : public ActivityBackend {
 public:
  explicit CaptureBackend(CaptureInterface interface)
      : interface_(std::move(interface)),
        table_(interface_.name,
               {{.name = "capture",
                 .value = setting::Switch(&Settings::capture),
                 .purpose = interface_.setting_purpose,
                 .old_name = absl::StrCat("capture_", interface_.name)}}),
        info_{.name = interface_.name,
              .purpose = absl::StrCat("what libraries say through ",
                                      interface_.interface),
              .settings = table_.infos()} {}

  const PluginInfo& info() const noexcept override { return info_; }

  std::vector<model::ActivityType> activity_types() const override {
    return {interface_.type};
  }

  bool CanAttach() const override { return true; }

  absl::Status Availability(const SessionOptions& options) const override {
    return StreamAvailability(options);
  }

  // Beside `cpu`, unless the setting says otherwise.
  bool IsWanted(const std::set<std::string>& named,
                const SessionOptions& options) const override {
    if (named.contains(info_.name)) return true;
    const absl::StatusOr<Settings> settings = table_.Read(options.settings);
    return settings.ok() && settings->capture &&
           (named.empty() || named.contains("cpu"));
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    KYMO_ASSIGN_OR_RETURN(const Settings settings,
                          table_.Read(options.settings, {.capture = true}));
    if (!settings.capture) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the activity ", info_.name, " is asked for, and ", info_.name,
          "_capture=0 forbids it: leave one of them out"));
    }
    return NewStreamSession(
        options,
        {.flags = interface_.flag,
         .libraries = {{.variable = interface_.tool_variable,
                        .file = "",
                        .next_variable = interface_.next_tool_variable}}});
  }

 private:
  const CaptureInterface interface_;
  const SettingTable<Settings> table_;
  const PluginInfo info_;
};

}  // namespace

std::unique_ptr<ActivityBackend> NewCaptureBackend(CaptureInterface interface) {
  if (interface.joins_cpu) {
    return std::make_unique<CaptureBackend<CaptureSettings<true>>>(
        std::move(interface));
  }
  return std::make_unique<CaptureBackend<CaptureSettings<false>>>(
      std::move(interface));
}

}  // namespace kymo::stream
