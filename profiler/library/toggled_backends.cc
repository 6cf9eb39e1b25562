#include "profiler/library/toggled_backends.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/activities.h"

namespace kymo {
namespace {

// PyTorch's ActivityType, in its order (torch/csrc/profiler/orchestration/
// observer.h). The table of texts there has none for HPU, so PyTorch prints the
// text of the next device for it and for those behind it.
struct PyTorchActivity {
  std::string_view name;
  std::string_view text;
};
constexpr PyTorchActivity kPyTorchActivities[] = {
    {"cpu", "CPU"}, {"xpu", "XPU"},   {"cuda", "CUDA"},
    {"hpu", "HPU"}, {"mtia", "MTIA"}, {kCustomDevice, "PrivateUse1"}};
constexpr size_t kFirstNotToggled = 3;

// The place of an activity in that order. Kymo's own activities come last.
size_t TogglePlace(const std::string& activity, const SessionPlan& plan) {
  const bool is_custom =
      IsCustomDevice(activity) && plan.devices.contains(activity);
  const std::string_view name = is_custom ? kCustomDevice : activity;
  return static_cast<size_t>(
      std::ranges::find(kPyTorchActivities, name, &PyTorchActivity::name) -
      kPyTorchActivities);
}

// Empty where the CPU and the device are switched together, or neither is.
std::string_view WarningOnHalf(const std::vector<std::string>& activities,
                               const SessionPlan& plan) {
  const auto is_wanted = [&](std::string_view name) {
    return std::ranges::find(activities, name) != activities.end();
  };
  const bool cpu = is_wanted("cpu");
  const bool device =
      is_wanted("cuda") || is_wanted("xpu") ||
      std::ranges::any_of(activities, [&](const std::string& activity) {
        return plan.devices.contains(activity);
      });
  if (cpu && !device && !plan.use_device.empty()) {
    return "Toggling CPU activity with GPU activity on may result in traces "
           "with GPU events on arbitrary tracks";
  }
  if (device && !cpu) {
    return "Toggling GPU activity with CPU activity on may result in traces "
           "with incorrect correlation between CPU and GPU events";
  }
  return "";
}

}  // namespace

ToggledBackends BackendsToToggle(const std::vector<std::string>& activities,
                                 const SessionPlan& plan,
                                 const BackendRegistry& backends,
                                 bool is_recording) {
  ToggledBackends toggled;
  if (const std::string_view text = WarningOnHalf(activities, plan);
      !text.empty()) {
    toggled.warnings.emplace_back(text);
  }
  std::set<std::pair<size_t, std::string>> wanted;  // in PyTorch's order
  for (const std::string& activity : activities) {
    wanted.emplace(TogglePlace(activity, plan), activity);
  }
  for (const auto& [place, activity] : wanted) {
    const bool is_pytorchs = place < std::size(kPyTorchActivities);
    if (!is_recording && !is_pytorchs) continue;
    const auto planned = plan.devices.find(activity);
    if (place >= kFirstNotToggled && planned == plan.devices.end() &&
        backends.Find(activity) == nullptr) {
      toggled.warnings.push_back(absl::StrCat(
          "Dynamic toggle is only supported for CPU/GPU activity, skipping "
          "toggling of ",
          ToAbsl(is_pytorchs ? kPyTorchActivities[place].text
                             : std::string_view(activity))));
      continue;
    }
    toggled.backends.push_back(planned == plan.devices.end() ? activity
                                                             : planned->second);
  }
  return toggled;
}

}  // namespace kymo
