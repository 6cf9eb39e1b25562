// memory_backend.h - the `memory` backend: allocations and frees.
//
// It records what the program reports (kymo/memory.h) and, where the hooks are
// in place (target/), every call of the program's allocator. A session has it
// if its options say profile_memory, or if `memory` is among its activities.
//
// The records stand in the stream of the thread that allocates
// (backends/stream/stream_session.h), beside its ranges: that is how the trace
// knows which operation an allocation belongs to.
#ifndef KYMO_BACKENDS_MEMORY_MEMORY_BACKEND_H_
#define KYMO_BACKENDS_MEMORY_MEMORY_BACKEND_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewMemoryBackend();

}  // namespace kymo

#endif  // KYMO_BACKENDS_MEMORY_MEMORY_BACKEND_H_
