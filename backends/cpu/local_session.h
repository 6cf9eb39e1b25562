// local_session.h - records threads of this process, into its own memory or,
// where a collector records it, through the collector's.
//
// Errors: as profiler/record/host/host.h has them, in the words of torch.profiler
//   where it has some.
#ifndef KYMO_BACKENDS_CPU_LOCAL_SESSION_H_
#define KYMO_BACKENDS_CPU_LOCAL_SESSION_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"
#include "profiler/record/host/host.h"

namespace kymo::cpu {

std::unique_ptr<ActivitySession> NewLocalSession(
    const record::SessionRequest& request);

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_LOCAL_SESSION_H_
