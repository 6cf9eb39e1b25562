// activities.h - finds the backends that record the requested activities.
//
//   KYMO_ASSIGN_OR_RETURN(const std::vector<ActivityBackend*> backends,
//                         FindBackends(registry, {"cpu", "itt"}, options));
//   for (ActivityBackend* const backend : backends)
//     session = backend->NewSession(options);
//
// An activity is the name of a backend. A backend may join others that are
// named (ActivityBackend::IsWanted), as `memory` does with profile_memory.
#ifndef KYMO_PROFILER_PLUGIN_ACTIVITIES_H_
#define KYMO_PROFILER_PLUGIN_ACTIVITIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/registry.h"

namespace kymo {

// By name. Without any activity: those that record by default. For an unknown
// name, kInvalidArgument lists the valid ones.
absl::StatusOr<std::vector<ActivityBackend*>> FindBackends(
    const BackendRegistry& registry, const std::vector<std::string>& activities,
    const SessionOptions& options);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_ACTIVITIES_H_
