// host_session.h - one recording of counters of the machine and the target.
//
//   std::unique_ptr<ActivitySession> session =
//       NewHostSession(settings, TargetKind::kThisProcess, {});
#ifndef KYMO_BACKENDS_HOST_HOST_SESSION_H_
#define KYMO_BACKENDS_HOST_HOST_SESSION_H_

#include <memory>

#include "backends/host/host_settings.h"
#include "backends/host/machine_counters.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::host {

std::unique_ptr<ActivitySession> NewHostSession(const HostSettings& settings,
                                                TargetKind target,
                                                const HostPaths& paths);

}  // namespace kymo::host

#endif  // KYMO_BACKENDS_HOST_HOST_SESSION_H_
