#include "profiler/plugin/activities.h"

#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kymo {

absl::StatusOr<std::vector<ActivityBackend*>> FindBackends(
    const BackendRegistry& registry, const std::vector<std::string>& activities,
    const SessionOptions& options) {
  const std::set<std::string> named(activities.begin(), activities.end());
  for (const std::string& name : named) {
    if (registry.Find(name) != nullptr) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no activity '", name, "'; it is one of: ", registry.Names()));
  }
  std::vector<ActivityBackend*> wanted;
  for (ActivityBackend* const backend : registry.List()) {
    if (backend->IsWanted(named, options)) wanted.push_back(backend);
  }
  return wanted;
}

}  // namespace kymo
