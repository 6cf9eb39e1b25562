#include "kymo/profile_options.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kymo/device_events.h"
#include "kymo/warning.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/activities.h"
#include "profiler/plugin/guarded_call.h"
#include "profiler/plugin/settings.h"

namespace kymo {
namespace {

// The backends that record the device: the backend of that name comes first.
std::vector<const ActivityBackend*> DeviceBackends(
    const BackendRegistry& backends, std::string_view word) {
  std::vector<const ActivityBackend*> found;
  for (const ActivityBackend* const backend : backends.List()) {
    const PluginInfo& info = backend->info();
    if (info.device.empty()) continue;
    if (info.name == word) {
      found.insert(found.begin(), backend);
    } else if (info.device == word ||
               (word == kCustomDevice && IsCustomDevice(info.device))) {
      found.push_back(backend);
    }
  }
  return found;
}

// A backend that throws is not available.
absl::Status AvailabilityOf(const ActivityBackend& backend,
                            const SessionOptions& options) {
  return GuardedCall("asking whether it is available",
                     [&] { return backend.Availability(options); });
}

// The checks and the choices of devices in torch.autograd.profiler.profile.
class DevicePlanner {
 public:
  DevicePlanner(const BackendRegistry& backends, const ProfileOptions& options,
                SessionPlan& plan)
      : backends_(backends), options_(options), plan_(plan) {}

  bool IsDevice(std::string_view word) const {
    return !IsCustomDevice(word) || word == kCustomDevice ||
           !DeviceBackends(backends_, word).empty() ||
           FindTimedDevice(word).events != nullptr;
  }

  // Adds the device to the plan, and returns its name for results. A device
  // that cannot be recorded is left out, with PyTorch's warning; its name is
  // empty.
  absl::StatusOr<std::string> Add(const std::string& word) {
    const auto [device, is_new] = plan_.devices.try_emplace(word);
    if (!is_new) return std::string();
    const std::vector<const ActivityBackend*> candidates =
        DeviceBackends(backends_, word);
    std::vector<std::string> reasons;
    KYMO_ASSIGN_OR_RETURN(const ActivityBackend* const backend,
                          FirstAvailable(candidates, reasons));
    const TimedDevice timed = FindTimedDevice(
        candidates.empty() ? word : candidates.front()->info().device);
    if (timed.events != nullptr &&
        (backend == nullptr || !options_.use_kineto)) {
      return AddTimed(timed.name);
    }
    if (candidates.empty() && IsCustomDevice(word)) {
      Warn(absl::StrCat("The ", word, " is not a valid device option."));
      return std::string();
    }
    if (backend == nullptr) {
      return LeaveOut(
          candidates.empty() ? word : candidates.front()->info().device,
          reasons);
    }
    const PluginInfo& info = backend->info();
    if (!options_.use_kineto && info.device != "cuda" &&
        !IsCustomDevice(info.device)) {
      return NotSupported(info.device);
    }
    device->second = info.name;
    if (std::find(plan_.activities.begin(), plan_.activities.end(),
                  info.name) == plan_.activities.end()) {
      plan_.activities.push_back(info.name);
    }
    return info.device;
  }

 private:
  // Null: none is, and `reasons` says why. An error if the user can correct a
  // setting.
  absl::StatusOr<const ActivityBackend*> FirstAvailable(
      const std::vector<const ActivityBackend*>& candidates,
      std::vector<std::string>& reasons) const {
    for (const ActivityBackend* const backend : candidates) {
      const absl::Status status = AvailabilityOf(*backend, plan_.session);
      if (status.ok()) return backend;
      const std::string why = absl::StrCat("activity ", backend->info().name,
                                           ": ", status.message());
      if (absl::IsInvalidArgument(status)) {
        return absl::InvalidArgumentError(why);
      }
      reasons.push_back(why);
    }
    return nullptr;
  }

  absl::StatusOr<std::string> AddTimed(const std::string& device) {
    const std::vector<std::string>& named = options_.activities;
    const bool lacks_cpu =
        !named.empty() && std::ranges::find(named, "cpu") == named.end();
    if (!options_.use_cpu || lacks_cpu) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Legacy ", device == "cuda" ? "CUDA" : "privateuse1",
          " profiling requires use_cpu = true",
          options_.use_cpu ? ": only events of the program time this device, "
                             "at the start and end of each range of \"cpu\"; "
                             "add \"cpu\" to activities"
                           : ""));
    }
    if (plan_.timed_device.empty()) plan_.timed_device = device;
    return device;
  }

  // PyTorch's warning, and then what its user would have to guess.
  static absl::StatusOr<std::string> LeaveOut(
      const std::string& device, const std::vector<std::string>& reasons) {
    // PyTorch does not ask whether there is an MTIA device.
    if (device == "mtia") return NotSupported(device);
    const std::string name = absl::AsciiStrToUpper(device);
    Warn(absl::StrCat(name, " is not available, disabling ", name,
                      " profiling"));
    for (const std::string& reason : reasons) Warn(reason);
    return std::string();
  }

  static absl::Status NotSupported(const std::string& device) {
    const std::string name = absl::AsciiStrToUpper(device);
    return absl::InvalidArgumentError(absl::StrCat(
        "Legacy ", name,
        " profiling is not supported. Requires use_kineto = true on ", name,
        " devices."));
  }

  const BackendRegistry& backends_;
  const ProfileOptions& options_;
  SessionPlan& plan_;
};

absl::Status AddActivities(const ProfileOptions& options,
                           const BackendRegistry& backends, SessionPlan& plan) {
  DevicePlanner devices(backends, options, plan);
  const std::string use_device = options.use_cuda ? "cuda" : options.use_device;
  if (!use_device.empty()) {
    KYMO_ASSIGN_OR_RETURN(plan.use_device, devices.Add(use_device));
  }
  for (const std::string& activity : options.activities) {
    if (devices.IsDevice(activity)) {
      KYMO_RETURN_IF_ERROR(devices.Add(activity).status());
    } else {
      plan.activities.push_back(activity);
    }
  }
  if (plan.use_device.empty()) {
    plan.use_device = ShownDevice(backends, plan.activities);
  }
  if (plan.use_device.empty()) plan.use_device = plan.timed_device;
  // Results have a place for the times of one device.
  if (plan.timed_device != plan.use_device) plan.timed_device.clear();
  if (options.activities.empty()) plan.activities.push_back("cpu");
  if (!options.use_cpu) std::erase(plan.activities, "cpu");
  return plan.activities.empty()
             ? absl::InvalidArgumentError(
                   "No activities specified for the profiler")
             : absl::OkStatus();
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

  for (auto activity = options.activities.begin();
       activity != options.activities.end(); ++activity) {
    if (std::find(options.activities.begin(), activity, *activity) !=
        activity) {
      return absl::InvalidArgumentError(
          absl::StrCat("Activity ", *activity, " specified more than once"));
    }
  }
  if (options.use_cuda) {
    Warn(
        "The attribute `use_cuda` will be deprecated soon, please use "
        "``use_device = 'cuda'`` instead.");
  }
  plan.trace_only = options.experimental_config.trace_only;
  if (plan.trace_only && options.with_stack) {
    Warn(
        "trace_only = true is incompatible with with_stack = true (stack "
        "traces "
        "require event post-processing). Disabling trace_only.");
    plan.trace_only = false;
  }
  if (!options.use_cpu && !options.use_kineto) {
    return absl::InvalidArgumentError(
        "Device-only events supported only with Kineto (use_kineto = true)");
  }
  KYMO_RETURN_IF_ERROR(AddActivities(options, backends, plan));
  if (options.post_processing_timeout_s &&
      *options.post_processing_timeout_s < 0) {
    return absl::InvalidArgumentError(
        "post_processing_timeout_s must be non-negative");
  }
  return plan;
}

std::vector<std::string> SupportedActivities(const BackendRegistry& backends) {
  std::vector<std::string> supported;
  for (const ActivityBackend* const backend : backends.List()) {
    if (IsWantedIn(*backend, {}, {}) && AvailabilityOf(*backend, {}).ok()) {
      supported.push_back(backend->info().name);
    }
  }
  return supported;
}

}  // namespace kymo
