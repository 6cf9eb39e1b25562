#include "kymo/profile_options.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kymo/warning.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/settings.h"

namespace kymo {
namespace {

constexpr std::array<std::string_view, 5> kDevices = {"cuda", "xpu", "mtia",
                                                      "hpu", "privateuseone"};

// The device that is left of use_device, after its warnings.
std::string CheckedDevice(const std::string& device,
                          const BackendRegistry& backends,
                          const SessionOptions& session) {
  if (device.empty()) return device;
  if (std::find(kDevices.begin(), kDevices.end(), device) == kDevices.end()) {
    Warn(absl::StrCat("The ", device, " is not a valid device option."));
    return {};
  }
  const ActivityBackend* const backend = backends.Find(device);
  if (backend == nullptr || !backend->Availability(session).ok()) {
    const std::string name = absl::AsciiStrToUpper(device);
    Warn(absl::StrCat(name, " is not available, disabling ", name,
                      " profiling"));
    return {};
  }
  return device;
}

}  // namespace

absl::StatusOr<SessionPlan> PlanSession(const ProfileOptions& options,
                                        const BackendRegistry& backends) {
  SessionPlan plan;
  plan.session.all_threads = options.experimental_config.profile_all_threads;
  plan.session.record_shapes = options.record_shapes || options.with_flops;
  plan.session.profile_memory = options.profile_memory;
  plan.session.with_stack = options.with_stack;
  plan.session.with_modules = options.with_modules;
  plan.session.capture_overload_names =
      options.experimental_config.capture_overload_names;
  std::vector<SettingInfo> known;
  for (const ActivityBackend* const backend : backends.List()) {
    known = JoinSettings({known, backend->info().settings});
  }
  KYMO_ASSIGN_OR_RETURN(ResolvedSettings settings,
                        ResolveSettings(options.settings, known));
  for (const std::string& notice : settings.notices) Warn(notice);
  plan.session.settings = std::move(settings.settings);
  plan.use_device = CheckedDevice(options.use_device, backends, plan.session);

  for (const std::string& activity : options.activities) {
    if (std::find(plan.activities.begin(), plan.activities.end(), activity) !=
        plan.activities.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("Activity ", activity, " specified more than once"));
    }
    plan.activities.push_back(activity);
    // As PyTorch: a device among the activities is the one to show.
    if (plan.use_device.empty() && std::find(kDevices.begin(), kDevices.end(),
                                             activity) != kDevices.end()) {
      plan.use_device = activity;
    }
  }
  if (plan.activities.empty()) plan.activities.push_back("cpu");
  if (!plan.use_device.empty() &&
      std::find(plan.activities.begin(), plan.activities.end(),
                plan.use_device) == plan.activities.end()) {
    plan.activities.push_back(plan.use_device);
  }
  if (!options.use_cpu) std::erase(plan.activities, "cpu");
  if (plan.activities.empty()) {
    return absl::InvalidArgumentError(
        "No activities specified for the profiler");
  }
  if (options.post_processing_timeout_s &&
      *options.post_processing_timeout_s < 0) {
    return absl::InvalidArgumentError(
        "post_processing_timeout_s must be non-negative");
  }
  if (options.experimental_config.trace_only && options.with_stack) {
    Warn(
        "trace_only=True is incompatible with with_stack=True (stack traces "
        "require event post-processing). Disabling trace_only.");
    plan.trace_only = false;
  } else {
    plan.trace_only = options.experimental_config.trace_only;
  }
  return plan;
}

}  // namespace kymo
