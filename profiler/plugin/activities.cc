#include "profiler/plugin/activities.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/plugin/guarded_call.h"

namespace kymo {

namespace {

constexpr std::array<std::string_view, 4> kDevices = {"cuda", "xpu", "mtia",
                                                      "hpu"};

// The place in PyTorch's order.
size_t Rank(std::string_view device) noexcept {
  return std::find(kDevices.begin(), kDevices.end(), device) - kDevices.begin();
}

}  // namespace

bool IsWantedIn(const ActivityBackend& backend,
                const std::set<std::string>& named,
                const SessionOptions& options) {
  const absl::StatusOr<bool> is_wanted =
      GuardedCall("asking whether it is wanted", [&]() -> absl::StatusOr<bool> {
        return backend.IsWanted(named, options);
      });
  return is_wanted.ok() ? *is_wanted
                        : backend.ActivityBackend::IsWanted(named, options);
}

absl::StatusOr<std::vector<ActivityBackend*>> FindBackends(
    const BackendRegistry& registry, const std::vector<std::string>& activities,
    const SessionOptions& options) {
  const std::set<std::string> named(activities.begin(), activities.end());
  for (const std::string& name : named) {
    if (registry.Find(name) != nullptr) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no activity '", name, "'; it is one of: ", registry.Names()));
  }
  const bool runs_already = options.target == TargetKind::kRunningProcesses;
  std::vector<ActivityBackend*> wanted;
  for (ActivityBackend* const backend : registry.List()) {
    if (!IsWantedIn(*backend, named, options)) continue;
    if (!runs_already || backend->CanAttach()) {
      wanted.push_back(backend);
    } else if (named.contains(backend->info().name)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "activity ", backend->info().name,
          ": it needs code in the program, so a process that runs already is "
          "recorded without it; start the program with `kymo profile`"));
    }
  }
  return wanted;
}

bool IsCustomDevice(std::string_view device) noexcept {
  return Rank(device) == kDevices.size();
}

std::string ShownDevice(const BackendRegistry& registry,
                        const std::vector<std::string>& backends) {
  std::string shown;
  for (const std::string& name : backends) {
    const ActivityBackend* const backend = registry.Find(name);
    if (backend == nullptr) continue;  // a part of one
    const std::string& device = backend->info().device;
    if (device.empty()) continue;
    if (shown.empty() || Rank(device) < Rank(shown)) shown = device;
  }
  return shown;
}

}  // namespace kymo
