// sessions.h - starts and ends the sessions of this process.
//
// For host.cc, which puts these functions into HostApi; host.h describes them.
// Knows live_sessions.h and thread_streams.h.
//
// Threads: any. Each function takes the host's lock, except OwnSessionOf and
//   those that require it.
#ifndef KYMO_PROFILER_RECORD_HOST_SESSIONS_H_
#define KYMO_PROFILER_RECORD_HOST_SESSIONS_H_

#include "profiler/record/host/own_host.h"

namespace kymo::record {

int OwnStartSession(const SessionRequest* request, SessionId* id) noexcept;
int OwnStopSession(SessionId id) noexcept;
int OwnReleaseSession(SessionId id) noexcept;
int OwnSetSessionEnabled(SessionId id, int enabled) noexcept;
uint32_t OwnThreadsOutside(SessionId id) noexcept;

// Makes the arena, if there is none: a memfd if the door is open (door.h).
// Returns 0 or an errno. REQUIRES: the lock.
int MakeLocalArena() noexcept;
// Registers what a forked child does, once. False if memory is short.
// REQUIRES: the lock.
bool RegisterForkHandler() noexcept;
SessionId OwnSessionOf(const Slot* slot, uint64_t ticket) noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_SESSIONS_H_
