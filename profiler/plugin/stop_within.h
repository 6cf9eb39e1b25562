// stop_within.h - stops a session, and gives it up if it takes too long.
//
//   absl::Status status = StopWithin(session->StopLimitNs(), session, backend);
//   if (session == nullptr) return status;   // it was given up
//
// Stop runs on a thread of its own, on which all signals are blocked. If Stop
// has not returned after the limit, that thread goes on with the session. Time
// in which the thread had no CPU does not count, up to 19 times the limit, as
// far as the kernel has counted it: a wait for a CPU counts at its end.
// Nobody may destroy the session while the thread uses it, and nobody can tell
// how long that will be. So the session and what it needs are never freed: they
// are the price of a Stop that hangs. Where the process can make no thread,
// Stop runs on the calling thread without a limit.
//
// Cost: a thread is made and joined, about 50 us.
#ifndef KYMO_PROFILER_PLUGIN_STOP_WITHIN_H_
#define KYMO_PROFILER_PLUGIN_STOP_WITHIN_H_

#include <memory>

#include "absl/status/status.h"
#include "profiler/base/time.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo {

// Calls session->Stop() and returns its status, or that of its exception.
// kDeadlineExceeded, and a null `session`, if it did not return in time.
// `keeps` lives as long as the session does. `limit_ns` may be kNoStopLimit:
// Stop then runs on the calling thread.
absl::Status StopWithin(DurationNs limit_ns,
                        std::unique_ptr<ActivitySession>& session,
                        const std::shared_ptr<const void>& keeps);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_STOP_WITHIN_H_
