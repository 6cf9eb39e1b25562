// cupti_backend.h - the `cuda` backend: what NVIDIA devices do, and the calls
// that tell them to.
//
// It uses CUPTI's activity API. In this process the library is loaded when a
// session is prepared. In a child of the command an injected library
// (injection.h) loads it when the program initialises CUDA. Each such process
// leaves a log in the session's scratch folder, and Collect reads it.
//
// CUPTI records a whole process, so a session of one thread gets the activities
// of all threads. Before CUDA 13.3 CUPTI takes one client at a time. If another
// client is there, the session fails and says which one.
#ifndef KYMO_BACKENDS_CUPTI_CUPTI_BACKEND_H_
#define KYMO_BACKENDS_CUPTI_CUPTI_BACKEND_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo {

namespace cupti {
struct CudaDriver;
struct CuptiApi;
}  // namespace cupti

std::unique_ptr<ActivityBackend> NewCuptiBackend();

// For tests: the backend is available, and sessions of this process use `api`
// and `driver`, which must outlive them.
std::unique_ptr<ActivityBackend> NewCuptiBackendWith(
    const cupti::CuptiApi& api, const cupti::CudaDriver& driver);

}  // namespace kymo

#endif  // KYMO_BACKENDS_CUPTI_CUPTI_BACKEND_H_
