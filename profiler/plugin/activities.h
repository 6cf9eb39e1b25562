// activities.h - which backends record the activities that are asked for.
//
//   KYMO_ASSIGN_OR_RETURN(const std::vector<PlannedBackend> plan,
//                         PlanBackends(registry, {"cpu", "itt"}, options));
//   for (const PlannedBackend& planned : plan)
//     session = planned.backend->NewSession(planned.options);
//
// An activity is a backend's name, or that of a part of what one records
// (PluginInfo::parts): `itt` switches the setting of that part on. Where only
// parts of a backend are named, the others and the rest of it are switched off.
// What the settings say already stays.
#ifndef KYMO_PROFILER_PLUGIN_ACTIVITIES_H_
#define KYMO_PROFILER_PLUGIN_ACTIVITIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/registry.h"

namespace kymo {

struct PlannedBackend {
  ActivityBackend* backend;
  SessionOptions options;
};

// Sorted by the backends' names; each stands once. kInvalidArgument for a name
// that is none, and lists the valid ones.
absl::StatusOr<std::vector<PlannedBackend>> PlanBackends(
    const BackendRegistry& registry, const std::vector<std::string>& activities,
    const SessionOptions& options);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_ACTIVITIES_H_
