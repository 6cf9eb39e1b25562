// local_session.h - CUDA activities of this process.
#ifndef KYMO_BACKENDS_CUPTI_LOCAL_SESSION_H_
#define KYMO_BACKENDS_CUPTI_LOCAL_SESSION_H_

#include <memory>

#include "backends/cupti/cuda_driver.h"
#include "backends/cupti/cupti_settings.h"
#include "backends/cupti/target/cupti_api.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::cupti {

// Stop waits until the devices have finished their work, as torch.profiler
// does: only then are the times known.
//
// `api`: null = this machine's library, which is loaded at Prepare.
std::unique_ptr<ActivitySession> NewLocalSession(
    const CuptiSettings& settings, const CuptiApi* api,
    const CudaDriver& driver = LoadedCudaDriver());

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_LOCAL_SESSION_H_
