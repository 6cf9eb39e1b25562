// backend_library.h - loads a user's backends from shared libraries.
//
//   BackendRegistry registry;   // RegisterBuiltinBackends() fills it
//   KYMO_ASSIGN_OR_RETURN(
//       const std::vector<std::string> activities,
//       LoadBackends({"cpu", "./libmine.so"}, registry));
//   // activities: {"cpu", "mine"}, and registry.Find("mine") is a backend
//
// The library is written with kymo/backend_plugin.h: C functions and structs.
// So it may come from another compiler and another Kymo, as long as the major
// version of that header is the same.
//
// Everything that a library hands over is checked: its struct here, its records
// in plugin_records.h. An exception that leaves one of its functions passes
// through, as that of any backend does (guarded_call.h).
//
// A library stays loaded until the process ends, because its threads and hooks
// may still run.
// Threads: registration needs exclusive access.
#ifndef KYMO_PROFILER_PLUGIN_LIBRARY_BACKEND_LIBRARY_H_
#define KYMO_PROFILER_PLUGIN_LIBRARY_BACKEND_LIBRARY_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kymo/backend_plugin.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/registry.h"

namespace kymo {

// Whether `activity` names a library rather than a backend: it has a slash.
bool IsBackendPath(std::string_view activity);

// The activities with each path replaced by the name of its backend, which is
// loaded and registered. A library that is registered already gives its name
// again. Other words stay as they are.
//   kNotFound           a library cannot be loaded; says what dlopen says
//   kFailedPrecondition not a backend library, of another version, or its
//                       backend contradicts kymo/backend_plugin.h
//   kAlreadyExists      the name of its backend or of a setting is taken
absl::StatusOr<std::vector<std::string>> LoadBackends(
    const std::vector<std::string>& activities, BackendRegistry& registry);

// A backend that calls `plugin`, which must stay as it is for ever. `path` is
// the library's, for messages and for files that stand beside it.
//   kFailedPrecondition as above
absl::StatusOr<std::unique_ptr<ActivityBackend>> AdaptBackend(
    const KymoBackendPlugin* plugin, const std::string& path);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_LIBRARY_BACKEND_LIBRARY_H_
