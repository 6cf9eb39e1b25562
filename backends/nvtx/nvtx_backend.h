// nvtx_backend.h - the `nvtx` backend: what libraries say through NVTX.
//
// In a child, Kymo's runtime is the tool that NVTX finds (target/). A program
// that records itself has to link //:nvtx.
// The records stand in the stream of the thread that makes them
// (backends/stream/capture_backend.h).
#ifndef KYMO_BACKENDS_NVTX_NVTX_BACKEND_H_
#define KYMO_BACKENDS_NVTX_NVTX_BACKEND_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewNvtxBackend();

}  // namespace kymo

#endif  // KYMO_BACKENDS_NVTX_NVTX_BACKEND_H_
