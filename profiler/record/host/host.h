// host.h - decides who owns a process's recording; all that is not hot.
//
//   SessionId id;
//   if (StartSession({.scope = SessionScope::kThread}, &id) != 0) return;
//   Work();                          // ranges of this thread are recorded
//   StopSession(id);
//   ChunkReader reader(*ProcessArena());
//   reader.ReadSession({.session = id, .pid = getpid()}, visit);
//   ReleaseSession(id);
//
// A process has one host. Every copy of this library has one of its own: the
// copy in the program, in a shared library, in the preloaded runtime. On its
// first use a copy decides which host it calls:
//
//   1. the preloaded runtime's, if it is there (it exports kymo_host_v1);
//   2. else the one that another copy has chosen before (copies.h);
//   3. else its own, attached to the arena that KYMO_ARENA names, if set;
//   4. else its own, without an arena until the process starts a session.
//
// Copies of another version than the others' are hosts by themselves.
//
// Sessions: a process may record one of its threads or all of them, whether or
// not a collector records it too. A session reads the chunks that carry its id
// before the collector does, so both see every record once.
//
//   scope     records                               at a time
//   kThread   the thread that starts it, and those  one per thread, none beside
//             that ExchangeThreadSession lends it   a kProcess session
//   kProcess  every thread                          one
//
// Gates: each copy has one word that its hot path reads (host_api.h). The host
// sets all of them. Before a copy's first use its gate is kGateUnresolved.
//
// A library that holds a copy stays loaded from the copy's first use on:
// dlclose does not unload it.
//
// Threads: everything may be called concurrently.
// Standard library: nothing that needs linking, for the preloaded runtime.
#ifndef KYMO_PROFILER_RECORD_HOST_HOST_H_
#define KYMO_PROFILER_RECORD_HOST_HOST_H_

#include <cstdint>

#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/layout.h"
#include "profiler/record/host/host_api.h"

namespace kymo::record {

// Path of the collector's arena, for a process that it starts.
inline constexpr char kArenaVariable[] = "KYMO_ARENA";

// This copy's gate.
extern constinit Gate gate;

// The host that this copy calls; the first call decides.
const HostApi& Host() noexcept;

// This copy's own host, for the runtime to export.
const HostApi* OwnHost() noexcept;

// Attaches to the arena that `path` names and switches the gates on. For the
// runtime's constructor; returns 0 or an errno.
int AttachToCollector(const char* path) noexcept;

// True while anybody records this process; the first call decides on a host.
bool IsRecording() noexcept;

// Sets or clears kGateObserved in this copy's gate.
void SetObserved(bool observed) noexcept;

// PyTorch's thread id: threads of this process counted from 1 in the order in
// which they first record or ask. The same in every copy of the library.
uint64_t LogicalThreadId() noexcept;

// The number of this process's node in a distributed program; -1: none. The
// same in every copy of the library. While anybody records, every range that
// begins carries it (kGateNode), in 32 bytes more.
void SetNodeId(int64_t node_id) noexcept;
int64_t NodeId() noexcept;

// Switches the calling thread's recording off and on again, for every session
// and collector. Ranges that are open still end.
void SetThreadPaused(bool paused) noexcept;

// Sets the function that captures stacks where kGateStacks is set. Without one
// (null) records have no stacks. The recorder has none itself, to stay small.
// The first function stays until null is set: the preloaded runtime's is there
// before any program's, and its addresses carry the numbers of their files, as
// its records of mappings do.
void SetStackCapture(StackCapture capture) noexcept;

// For the runtime's own host, after the process has loaded code: the next stack
// records the mappings again.
void ForgetMappings() noexcept;

// For the runtime's own host, whose stacks carry the numbers of files
// (layout.h, kFileNumberShift): its records of mappings then carry them, too.
void SetFileNumberAt(FileNumberAt number_at) noexcept;

// --- sessions ---

// Starts a session. One of kThread gets the calling thread. Returns 0, or
//   EALREADY  this thread is in a session already
//   EBUSY     a kProcess session is live, or (for kProcess) any session
//   ENOSPC    kMaxSessions are live or not read
//   ENOTSUP   another session watches the heap in another way
// or mmap's errno. Where a collector watches the heap, sessions watch it in the
// same way.
int StartSession(const SessionRequest& request, SessionId* id) noexcept;
// How the heap is watched now, and the interval if it is sampled.
RecordFlags HeapMode(uint64_t* sample_interval) noexcept;
// Ends a session, from any thread: no record that begins after this returns is
// the session's. EINVAL when it is not live. Its chunks keep its id until
// ReleaseSession.
int StopSession(SessionId id) noexcept;
// Says that nobody will read the session's chunks any more. They go to the next
// session of all threads that is still to be read, which may have records in
// them. Without one, a collector may read them, or the next session discards
// them. EINVAL when it was not stopped or is released already.
int ReleaseSession(SessionId id) noexcept;
// Switches recording for the session off and on. While it is off, records for
// other sessions may carry its id; its reader leaves them out by their times.
int SetSessionEnabled(SessionId id, bool enabled) noexcept;
// The kThread session that the calling thread is in.
SessionId ThreadSession() noexcept;
// Moves the calling thread into another session, or into none (kNoSession).
// Returns the session before. A session that is not live counts as none.
SessionId ExchangeThreadSession(SessionId id) noexcept;
// The kThread session that reads the record first. kNoSession for records of a
// kProcess session or a collector.
SessionId SessionOf(const Slot* slot, uint64_t ticket) noexcept;

// The arena of this process's recording, its own or a collector's; null before
// the first session. Stays valid.
const Arena* ProcessArena() noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_HOST_H_
