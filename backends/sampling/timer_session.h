// timer_session.h - a sampling session by timers inside the target.
#ifndef KYMO_BACKENDS_SAMPLING_TIMER_SESSION_H_
#define KYMO_BACKENDS_SAMPLING_TIMER_SESSION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "backends/sampling/sampling_settings.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::sampling {

// Whether timers can work in the program: it must be linked dynamically and
// must not change its user. A script counts as its interpreter. OK if the file
// is unreadable.
absl::Status CheckTimerTarget(const std::string& target_path);

// How often per second the kernel checks CPU-time timers.
int KernelTickHz();

std::unique_ptr<ActivitySession> NewTimerSession(const Settings& settings);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_TIMER_SESSION_H_
