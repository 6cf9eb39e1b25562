// activities.h - finds the backends that record the requested activities.
//
//   KYMO_ASSIGN_OR_RETURN(const std::vector<PlannedBackend> plan,
//                         PlanBackends(registry, {"cpu", "itt"}, options));
//   for (const PlannedBackend& planned : plan)
//     session = planned.backend->NewSession(planned.options);
//
// An activity is the name of a backend, or of one part of its events
// (PluginInfo::parts). `itt` switches the setting of that part on. If only
// parts of a backend are named, its other parts and the rest are switched off.
// Settings that the user has given stay as they are.
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

// Sorted by the backends' names, each once. For an unknown name,
// kInvalidArgument lists the valid ones.
absl::StatusOr<std::vector<PlannedBackend>> PlanBackends(
    const BackendRegistry& registry, const std::vector<std::string>& activities,
    const SessionOptions& options);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_ACTIVITIES_H_
