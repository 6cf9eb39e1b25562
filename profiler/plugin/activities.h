// activities.h - finds the backends that record the requested activities, and
// the device that the results show.
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

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/registry.h"

namespace kymo {

// Whether a recording has the backend, for which the user named these
// activities. The backend decides; if it throws, its name does.
bool IsWantedIn(const ActivityBackend& backend,
                const std::set<std::string>& named,
                const SessionOptions& options);

// By name. Without any activity: those that record by default. For an unknown
// name, kInvalidArgument lists the valid ones. For processes that run already,
// kFailedPrecondition if a backend is named that cannot record these.
absl::StatusOr<std::vector<ActivityBackend*>> FindBackends(
    const BackendRegistry& registry, const std::vector<std::string>& activities,
    const SessionOptions& options);

// PyTorch's word for a device that it has no name for.
inline constexpr std::string_view kCustomDevice = "privateuseone";

// Whether PyTorch has no name for the device: whether it is none of "cuda",
// "xpu", "mtia" and "hpu".
bool IsCustomDevice(std::string_view device) noexcept;

// The device (PluginInfo::device) that results show after a recording with the
// backends of these names. Of several devices, it is the first in PyTorch's
// order: cuda, xpu, mtia, hpu, custom devices. Empty: the backends record none.
std::string ShownDevice(const BackendRegistry& registry,
                        const std::vector<std::string>& backends);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_ACTIVITIES_H_
