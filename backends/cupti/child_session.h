// child_session.h - CUDA activities of a child process and its descendants.
#ifndef KYMO_BACKENDS_CUPTI_CHILD_SESSION_H_
#define KYMO_BACKENDS_CUPTI_CHILD_SESSION_H_

#include <memory>
#include <string>

#include "backends/cupti/cupti_settings.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::cupti {

// `folder`: where the processes put their logs; the session removes these logs.
// `library_paths`: of libcupti, as LoadCupti takes them.
std::unique_ptr<ActivitySession> NewChildSession(
    const CuptiSettings& settings, const std::string& folder,
    const std::string& library_paths);

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_CHILD_SESSION_H_
