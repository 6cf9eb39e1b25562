// own_session.h - a recording of when threads of this process had a CPU.
#ifndef KYMO_BACKENDS_OFF_CPU_OWN_OWN_SESSION_H_
#define KYMO_BACKENDS_OFF_CPU_OWN_OWN_SESSION_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo::off_cpu {

// The session polls itself every 5 ms, on a thread of its own, which the
// recording does not have. Without perf events, or without descriptors for
// them, it records totals only, and says so in its remarks.
std::unique_ptr<ActivitySession> NewOwnSession();

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_OWN_OWN_SESSION_H_
