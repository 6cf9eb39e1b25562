// perf_session.h - a sampling session by perf_event_open.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_SESSION_H_
#define KYMO_BACKENDS_SAMPLING_PERF_SESSION_H_

#include <memory>

#include "backends/sampling/sampling_settings.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/sampled_processes.h"

namespace kymo::sampling {

// While it samples, it says so in `sampled`.
std::unique_ptr<ActivitySession> NewPerfSession(
    const Settings& settings, std::shared_ptr<SampledProcesses> sampled);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_SESSION_H_
