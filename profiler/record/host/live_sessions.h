// live_sessions.h - this process's sessions, and what they all want.
//
//   Lock lock(wiped);
//   FindSession(id)->enabled = false;
//   UpdateGates();
//
// For the .cc files of this folder only. Knows own_host.h alone. Code that
// starts or ends a session, or notices that a collector has left, calls
// UpdateGates.
//
// Threads: the sessions change under the host's lock and are read without.
#ifndef KYMO_PROFILER_RECORD_HOST_LIVE_SESSIONS_H_
#define KYMO_PROFILER_RECORD_HOST_LIVE_SESSIONS_H_

#include "profiler/record/host/own_host.h"

namespace kymo::record {

// The live session `id`; null when there is none, and for kNoSession.
OwnSession* FindSession(SessionId id) noexcept;
// A session that is neither live nor waits to be read; null if there is none.
OwnSession* FindFreeSession() noexcept;
// The first session of all threads that started after `session` and still has
// chunks to read; kNoSession if there is none.
SessionId NextToRead(const OwnSession& session) noexcept;
// Whether a session, live or over, still has chunks to read.
bool AnySessionToRead() noexcept;
bool AnySessionIsLive() noexcept;
bool SessionIsLive(SessionId id) noexcept;

// The flags that the collector asks for; 0 without a collector.
RecordFlags CollectorFlags() noexcept;

// Sets every gate to what collector and sessions want. REQUIRES: the lock.
void UpdateGates() noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_LIVE_SESSIONS_H_
