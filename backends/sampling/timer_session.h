// timer_session.h - a sampling session by timers inside the target.
#ifndef KYMO_BACKENDS_SAMPLING_TIMER_SESSION_H_
#define KYMO_BACKENDS_SAMPLING_TIMER_SESSION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "backends/sampling/sampling_settings.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::sampling {

// Whether timers can get into the program: it must be linked dynamically and
// not change its user. Scripts count as their interpreters; OK if unreadable.
absl::Status CheckTimerTarget(const std::string& target_path);

// How often the kernel looks at CPU-time timers, per second.
int KernelTickHz();

std::unique_ptr<ActivitySession> NewTimerSession(const Settings& settings);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_TIMER_SESSION_H_
