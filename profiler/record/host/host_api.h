// host_api.h - the interface between this library's copies in one process.
//
//   copy 1: gate --+                          +-- gate: copy 2
//                  +<-- the host sets both -->+
//           Host() +---> HostApi, one table <-+ Host()
//
// Each copy has a gate, a word that its hot path reads. One copy is the host
// (host.h says which). It sets all gates, and the others call it through
// HostApi.
//
// Copies with different kHostVersion do not use each other as host.
#ifndef KYMO_PROFILER_RECORD_HOST_HOST_API_H_
#define KYMO_PROFILER_RECORD_HOST_HOST_API_H_

#include <atomic>
#include <cstdint>

#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/layout.h"
#include "profiler/record/host/thread_stream.h"

namespace kymo::record {

// Raise it when a C++ object that copies share changes: a struct of this file,
// ThreadStream, or Arena, to which HostApi hands out a pointer. Raise it with
// the arena's layout (kLayoutVersion), too.
inline constexpr uint32_t kHostVersion = 9;

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
  // Somebody wants the blocks that the heap's hooks see (heap.h): as records,
  // as records of samples, as records with stacks, or as counts.
  kGateHeap = 128,
  kGateHeapSampled = 256,
  kGateHeapStacks = 512,
  kGateHeapCounts = 1024,
  kGateMapped = 2048,  // and the mappings, too
  kGateNvtx = 4096,    // somebody wants what the program says through NVTX
  kGateItt = 8192,     // or through ITT
  // Ranges carry the number of the process's node. Never alone: 32768, because
  // 16384 is kRangesOff.
  kGateNode = 32768,
  kGateOverloads = 65536,  // somebody wants the overload names of operations
};

// A flag of a recording that wants none of the program's own ranges, instants
// and counters. Such a recording does not set kGateOn.
inline constexpr uint32_t kRangesOff = 16384;

// The data that a recording wants besides names and times: a sum of the above.
using RecordFlags = uint32_t;
inline constexpr RecordFlags kAllRecordFlags =
    kGateInputs | kGateStacks | kGateModules | kGateMemory | kGateHeap |
    kGateHeapSampled | kGateHeapStacks | kGateHeapCounts | kGateMapped |
    kGateNvtx | kGateItt | kGateOverloads | kRangesOff;
// How the heap is watched: one way at a time for a whole process.
inline constexpr RecordFlags kHeapModeFlags =
    kGateHeap | kGateHeapSampled | kGateHeapCounts;
// The flags of a recording that wants memory.
inline constexpr RecordFlags kMemoryFlags = kGateMemory | kHeapModeFlags;
// The flags that mean nothing for a range without inputs.
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
  // For the process's own arena; the first of several sessions decides.
  uint64_t chunk_bytes_total = uint64_t{1} << 30;
  FullPolicy policy = FullPolicy::kStop;
  uint64_t heap_sample_interval = 0;  // bytes, with kGateHeapSampled
};

// Address space of a process's own arena, if the process has no limit.
inline constexpr uint64_t kLocalCapacityBytes = uint64_t{4} << 30;

// Writes at most `max` return addresses, innermost first, and returns how many.
// They are those above `frame`, the __builtin_frame_address(0) of one of the
// functions that are running. Runs in the recorder: no locks, no allocation.
using StackCapture = uint64_t (*)(const void* frame, uint64_t* pcs,
                                  uint64_t max) noexcept;

// The number of the loaded file at `address` (layout.h, kFileNumberShift); 0 =
// none. Same rules.
using FileNumberAt = uint32_t (*)(uint64_t address) noexcept;

// The host's functions, which one copy of the library hands to another. C types
// only. New functions are added at the end; `size` tells which ones exist.
struct HostApi {
  uint32_t version;  // kHostVersion
  uint32_t size;
  // `count` slots for the calling thread, after the fast path found none. Sets
  // *cache. Null when the record is lost, which is counted.
  Slot* (*take_slots)(ThreadStream** cache, uint32_t count) noexcept;
  uint32_t (*intern)(const char* text, uint64_t size) noexcept;
  void (*add_gate)(Gate* gate) noexcept;
  void (*set_thread_name)(const char* text, uint64_t size) noexcept;
  void (*count_truncated)() noexcept;
  uint64_t (*logical_thread_id)() noexcept;
  void (*set_thread_paused)(int paused) noexcept;
  // host.h describes these, under the same names.
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
  void (*set_node_id)(int64_t node_id) noexcept;
  int64_t (*node_id)() noexcept;
  int (*open_door)() noexcept;                         // open_door.h
  uint32_t (*threads_outside)(SessionId id) noexcept;  // threads_outside.h
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_HOST_API_H_
