// perf_session.h - a sampling session by perf_event_open.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_SESSION_H_
#define KYMO_BACKENDS_SAMPLING_PERF_SESSION_H_

#include <memory>
#include <optional>

#include "backends/sampling/running/perf_running.h"
#include "backends/sampling/sampling_settings.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/sampled_processes.h"

namespace kymo::sampling {

// While it samples, it says so in `sampled`.
//
// If events of the target alone mislead (bias_watch.h), it goes on with events
// of all processes, and says so in a remark. From then on, lost records may be
// anybody's: kSamplesLost has the target's share of them, rounded up, by the
// samples since.
//
// With `running`, it samples processes that run already.
std::unique_ptr<ActivitySession> NewPerfSession(
    const Settings& settings, std::shared_ptr<SampledProcesses> sampled,
    std::optional<RunningTarget> running = std::nullopt);

// It samples this process, without processes that this one starts. `own` must
// outlive the session, and is read at its start.
std::unique_ptr<ActivitySession> NewOwnPerfSession(const Settings& settings,
                                                   const OwnProcess& own);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_SESSION_H_
