// host.h - who owns a process's recording, and the paths that are not hot.
//
// A process has one host. Every copy of this library (a program's own static
// one, a shared library's, the preloaded runtime's) carries one, and on its
// first use decides whose counts:
//
//   1. the preloaded runtime's, if it is there (it exports kymo_host_v1),
//   2. else its own: attached to the arena that KYMO_ARENA names, if set,
//   3. else its own, without an arena until the process starts a session.
//
// So without the runtime, copies in shared libraries are hosts of their own.
//
// Gates: each copy has one word that its hot path reads. The host switches all
// of them. Before a copy's first use its gate says kGateUnresolved.
//
// A library that holds a copy stays loaded from its first use on (dlclose does
// not unload it).
//
// Threads: everything may be called concurrently.
// Standard library: nothing that needs linking, for the preloaded runtime.
#ifndef KYMO_PROFILER_RECORD_HOST_H_
#define KYMO_PROFILER_RECORD_HOST_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "profiler/record/arena.h"
#include "profiler/record/thread_stream.h"

namespace kymo::record {

// Path of the collector's arena, for a process that it starts.
inline constexpr char kArenaVariable[] = "KYMO_ARENA";

// Address space of a process's own arena, where that is not limited.
inline constexpr uint64_t kLocalCapacityBytes = uint64_t{4} << 30;

enum GateState : uint32_t {
  kGateOff = 0,
  kGateOn = 1,
  kGateUnresolved = 2,
};

struct Gate {
  std::atomic<uint32_t> state;
  Gate* next;
};

// The host's functions, as one copy of the library hands them to another. C
// types only; grows at the end, `size` says how far it goes.
struct HostApi {
  uint32_t version;  // kLayoutVersion
  uint32_t size;
  // `count` slots for the calling thread, after the fast path found none. Null
  // when they are lost (and counted). Sets *cache.
  Slot* (*take_slots)(ThreadStream** cache, uint32_t count) noexcept;
  uint32_t (*intern)(const char* text, uint64_t size) noexcept;
  void (*add_gate)(Gate* gate) noexcept;
  void (*set_thread_name)(const char* text, uint64_t size) noexcept;
  void (*count_truncated)() noexcept;
  // Sessions of this process; see StartLocal.
  int (*start_local)(const ArenaOptions* options) noexcept;
  int (*stop_local)() noexcept;
  const Arena* (*local_arena)() noexcept;
};

// This copy's gate and its thread's stream.
extern constinit Gate gate;
extern constinit thread_local ThreadStream* thread_stream
    __attribute__((tls_model("initial-exec")));

// The host that counts for this copy; decides on the first call.
const HostApi& Host() noexcept;

// This copy's own host, for the runtime to export.
const HostApi* OwnHost() noexcept;

// Attaches to the arena that `path` names and switches the gates on. For the
// runtime's constructor; returns 0 or an errno.
int AttachToCollector(const char* path) noexcept;

// Whether this thread is inside of the host's code, which a signal handler must
// not enter again. Counts what the handler loses by that.
bool InSlowPath() noexcept;

// True while the gate is on; the first call decides on a host.
bool IsRecording() noexcept;

// Starts a process-wide session of this process into anonymous memory, made on
// the first session and kept for the next ones. Returns 0, EBUSY when one is
// live, EPERM when a collector owns the recording, or mmap's errno.
int StartLocal(const ArenaOptions& options) noexcept;
// Switches the gates off: no record that begins after this returns is kept.
// EINVAL when no session is live.
int StopLocal() noexcept;
// The anonymous arena, or null; what was recorded stays readable until the
// next StartLocal.
const Arena* LocalArena() noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_H_
