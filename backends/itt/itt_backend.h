// itt_backend.h - the `itt` backend: what libraries say through ITT.
//
// In a child, Kymo's runtime is the tool that ITT finds (target/).
// The records stand in the stream of the thread that makes them
// (backends/stream/capture_backend.h).
#ifndef KYMO_BACKENDS_ITT_ITT_BACKEND_H_
#define KYMO_BACKENDS_ITT_ITT_BACKEND_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewIttBackend();

}  // namespace kymo

#endif  // KYMO_BACKENDS_ITT_ITT_BACKEND_H_
