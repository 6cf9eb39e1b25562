// local_session.h - CUDA activities of this process.
#ifndef KYMO_BACKENDS_CUPTI_LOCAL_SESSION_H_
#define KYMO_BACKENDS_CUPTI_LOCAL_SESSION_H_

#include <memory>

#include "backends/cupti/cupti_api.h"
#include "backends/cupti/cupti_settings.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::cupti {

// `api`: null = the library of this machine, loaded at Prepare.
std::unique_ptr<ActivitySession> NewLocalSession(const CuptiSettings& settings,
                                                 const CuptiApi* api);

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_LOCAL_SESSION_H_
