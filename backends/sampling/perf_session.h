// perf_session.h - a sampling session by perf_event_open.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_SESSION_H_
#define KYMO_BACKENDS_SAMPLING_PERF_SESSION_H_

#include <memory>

#include "backends/sampling/sampling_settings.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::sampling {

std::unique_ptr<ActivitySession> NewPerfSession(const Settings& settings);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_SESSION_H_
