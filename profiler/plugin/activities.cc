#include "profiler/plugin/activities.h"

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kymo {
namespace {

using Names = std::set<std::string>;

PlannedBackend Plan(ActivityBackend& backend, const Names& wanted,
                    const SessionOptions& options) {
  PlannedBackend planned = {&backend, options};
  const PluginInfo& info = backend.info();
  const bool parts_only = !wanted.contains(info.name);
  // emplace: what the user has set, stays.
  auto& settings = planned.options.settings;
  for (const PluginPart& part : info.parts) {
    if (wanted.contains(part.name)) {
      settings.emplace(part.setting, "1");
    } else if (parts_only) {
      settings.emplace(part.setting, "0");
    }
  }
  if (parts_only) settings.emplace(info.rest_setting, "0");
  return planned;
}

bool RecordsAnyOf(const PluginInfo& info, const Names& wanted) {
  return wanted.contains(info.name) ||
         std::any_of(info.parts.begin(), info.parts.end(),
                     [&](const PluginPart& part) {
                       return wanted.contains(part.name);
                     });
}

}  // namespace

absl::StatusOr<std::vector<PlannedBackend>> PlanBackends(
    const BackendRegistry& registry, const std::vector<std::string>& activities,
    const SessionOptions& options) {
  const Names wanted(activities.begin(), activities.end());
  Names known;
  std::vector<PlannedBackend> plan;
  for (ActivityBackend* const backend : registry.List()) {
    const PluginInfo& info = backend->info();
    known.insert(info.name);
    for (const PluginPart& part : info.parts) known.insert(part.name);
    if (RecordsAnyOf(info, wanted)) {
      plan.push_back(Plan(*backend, wanted, options));
    }
  }
  for (const std::string& name : wanted) {
    if (known.contains(name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("there is no activity '", name,
                     "'; it is one of: ", absl::StrJoin(known, ", ")));
  }
  return plan;
}

}  // namespace kymo
