// threads_outside.h - how many threads a session of one thread leaves out.
//
//   if (ThreadsOutside(id) != 0) Warn("other threads are not in the session");
//   ReleaseSession(id);
//
// Threads: any; takes the host's lock.
#ifndef KYMO_PROFILER_RECORD_HOST_THREADS_OUTSIDE_H_
#define KYMO_PROFILER_RECORD_HOST_THREADS_OUTSIDE_H_

#include <cstdint>

#include "profiler/record/host/host_api.h"

namespace kymo::record {

// Threads that had something to record while the session was live, and were in
// no session at that time; each counts once. 0 for a session that is released.
uint32_t ThreadsOutside(SessionId id) noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_THREADS_OUTSIDE_H_
