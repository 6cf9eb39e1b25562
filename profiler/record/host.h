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
// Sessions: a process may record itself, one thread or all of them, whether or
// not a collector records it too. A session reads the chunks that carry its id
// before the collector does; so both see every record once.
//
//   scope     records                               at a time
//   kThread   the thread that starts it, and those  one per thread, none beside
//             that ExchangeThreadSession lends it   a kProcess session
//   kProcess  every thread                          one
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
// Which interfaces of others its recording listens to ("itt,nvtx"): said to who
// starts the process.
inline constexpr char kCaptureVariable[] = "KYMO_CAPTURE";

// Address space of a process's own arena, where that is not limited.
inline constexpr uint64_t kLocalCapacityBytes = uint64_t{4} << 30;

// Bits of a gate. A plain recording is kGateOn alone, so that the hot path
// compares with one number.
enum GateState : uint32_t {
  kGateOff = 0,
  kGateOn = 1,          // somebody records ranges of some thread
  kGateUnresolved = 2,  // no host chosen yet
  kGateObserved = 4,    // this copy has callbacks for operations
  kGateInputs = 8,      // somebody wants the inputs of operations
  kGateStacks = 16,     // somebody wants the stacks of operations
  kGateModules = 32,    // somebody wants ranges of modules
  kGateMemory = 64,     // somebody wants reports of allocations
  // Somebody wants to know what the hooks of the heap see (heap.h): as
  // records, and of those only samples, or with stacks; or as counts.
  kGateHeap = 128,
  kGateHeapSampled = 256,
  kGateHeapStacks = 512,
  kGateHeapCounts = 1024,
  kGateMapped = 2048,  // and the mappings, too
  kGateNvtx = 4096,    // somebody wants what the program says through NVTX
  kGateItt = 8192,     // or through ITT
};

// Of a recording that wants none of the program's own ranges, instants and
// counters: kGateOn is not set for its sake.
inline constexpr uint32_t kRangesOff = 16384;

// What a recording wants beside names and times.
using RecordFlags = uint32_t;
inline constexpr RecordFlags kAllRecordFlags =
    kGateInputs | kGateStacks | kGateModules | kGateMemory | kGateHeap |
    kGateHeapSampled | kGateHeapStacks | kGateHeapCounts | kGateMapped |
    kGateNvtx | kGateItt | kRangesOff;
// How the heap is watched: one way at a time for a whole process.
inline constexpr RecordFlags kHeapModeFlags =
    kGateHeap | kGateHeapSampled | kGateHeapCounts;
// Of a recording that wants memory.
inline constexpr RecordFlags kMemoryFlags = kGateMemory | kHeapModeFlags;
// Those that mean nothing for a range without inputs.
inline constexpr RecordFlags kNotForPlainRanges =
    kAllRecordFlags & ~uint32_t{kGateStacks};

struct Gate {
  std::atomic<uint32_t> state;
  Gate* next;
};

inline constexpr uint32_t kMaxSessions = 64;  // live or not read, at a time

enum class SessionScope : uint32_t { kThread = 0, kProcess = 1 };

struct SessionRequest {
  SessionScope scope = SessionScope::kProcess;
  RecordFlags flags = 0;
  // Of the process's own arena; the first of several sessions decides.
  uint64_t chunk_bytes_total = uint64_t{1} << 30;
  FullPolicy policy = FullPolicy::kStop;
  uint64_t heap_sample_interval = 0;  // bytes, with kGateHeapSampled
};

// Writes the return addresses above `frame` (the __builtin_frame_address(0) of
// one of the functions that are running), innermost first, and returns how
// many; at most `max`. Runs in the recorder: no locks, no allocation.
using StackCapture = uint64_t (*)(const void* frame, uint64_t* pcs,
                                  uint64_t max) noexcept;

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
  uint64_t (*logical_thread_id)() noexcept;
  void (*set_thread_paused)(int paused) noexcept;
  // The functions below, of the same names.
  int (*start_session)(const SessionRequest* request, SessionId* id) noexcept;
  int (*stop_session)(SessionId id) noexcept;
  int (*set_session_enabled)(SessionId id, int enabled) noexcept;
  SessionId (*thread_session)() noexcept;
  SessionId (*exchange_thread_session)(SessionId id) noexcept;
  SessionId (*session_of)(const Slot* slot, uint64_t ticket) noexcept;
  uint64_t (*capture_stack)(const void* frame, uint64_t* pcs,
                            uint64_t max) noexcept;
  void (*set_stack_capture)(StackCapture capture) noexcept;
  const Arena* (*arena)() noexcept;
  // Names a thread of this process, by its system id.
  void (*name_thread)(int32_t tid, const char* text, uint64_t size) noexcept;
  int (*release_session)(SessionId id) noexcept;
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

// True while somebody records this process; the first call decides on a host.
bool IsRecording() noexcept;

// Sets or clears kGateObserved in this copy's gate.
void SetObserved(bool observed) noexcept;

// PyTorch's thread id: threads of this process counted from 1 in the order in
// which they first record or ask. The same in every copy of the library.
uint64_t LogicalThreadId() noexcept;

// Switches the calling thread's recording off and on again, for every session
// and collector. Ranges that are open still end.
void SetThreadPaused(bool paused) noexcept;

// What captures stacks where kGateStacks is set; without one (null) records
// have none. The recorder brings none itself, so that it stays small.
void SetStackCapture(StackCapture capture) noexcept;

// This process has loaded code: its mappings are recorded once more. For the
// runtime, whose host it is.
void ForgetMappings() noexcept;

// --- sessions ---

// Starts one and, for kThread, puts the calling thread into it. Returns 0, or
//   EALREADY  this thread is in a session already
//   EBUSY     a kProcess session is live, or (for kProcess) any session
//   ENOSPC    kMaxSessions are live or not read
//   ENOTSUP   another one watches the heap in another way
//   or mmap's errno.
// Where a collector watches the heap, its way counts for sessions, too.
int StartSession(const SessionRequest& request, SessionId* id) noexcept;
// How the heap is watched now, and the interval if it is sampled.
RecordFlags HeapMode(uint64_t* sample_interval) noexcept;
// Ends it: no record that begins after this returns is the session's. From any
// thread. EINVAL when it is not live. Its chunks keep its id until its reader
// hands them on (ChunkReader).
int StopSession(SessionId id) noexcept;
// Its chunks have been read, or nobody will: a session that starts may discard
// what is left of them. EINVAL when it was not stopped or is released already.
int ReleaseSession(SessionId id) noexcept;
// Switches recording for the session off and on. What is recorded meanwhile for
// somebody else may still carry the session's id; its reader knows the times.
int SetSessionEnabled(SessionId id, bool enabled) noexcept;
// The kThread session that the calling thread is in.
SessionId ThreadSession() noexcept;
// Puts the calling thread into another one, or into none; returns the one
// before. A session that is not live counts as none.
SessionId ExchangeThreadSession(SessionId id) noexcept;
// The kThread session that reads the record first; kNoSession for records of a
// process-wide session or a collector.
SessionId SessionOf(const Slot* slot, uint64_t ticket) noexcept;

// The arena of this process's recording, its own or a collector's; null before
// the first session. Stays valid.
const Arena* ProcessArena() noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_H_
