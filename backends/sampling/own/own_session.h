// own_session.h - samples this process, from a thread of its own.
#ifndef KYMO_BACKENDS_SAMPLING_OWN_OWN_SESSION_H_
#define KYMO_BACKENDS_SAMPLING_OWN_OWN_SESSION_H_

#include <memory>

#include "backends/sampling/sampling_settings.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::sampling {

// By perf events of each thread, without processes that this one starts. The
// thread that reads the rings is not in the result. In a forked child, nothing
// was recorded.
std::unique_ptr<ActivitySession> NewOwnSession(const Settings& settings);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_OWN_OWN_SESSION_H_
