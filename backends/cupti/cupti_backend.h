// cupti_backend.h - the `cuda` backend: what NVIDIA devices do, and the calls
// that ask them to.
//
// Through CUPTI's activity API. In this process the library is loaded when a
// session is prepared. In a child of the command it is loaded by an injected
// library (injection.h) when the program initialises CUDA; each process leaves
// a log in the session's scratch folder, which is read at Collect.
//
// CUPTI records a whole process: a session of one thread gets everybody's
// activities. Before CUDA 13.3 it takes one client at a time: where another one
// has it, the session fails and says who.
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

// For tests: sessions of this process use these, which must outlive them; the
// backend is available.
std::unique_ptr<ActivityBackend> NewCuptiBackendWith(
    const cupti::CuptiApi& api, const cupti::CudaDriver& driver);

}  // namespace kymo

#endif  // KYMO_BACKENDS_CUPTI_CUPTI_BACKEND_H_
