// own_host.h - the state of this copy's own host, and the lock on it.
//
//   Wiped* const wiped = GetWiped();
//   if (wiped == nullptr) return;
//   Lock lock(wiped);
//   own.sessions[0].enabled = true;
//
// For the .cc files of this folder only. This is the host's lowest layer. It
// knows none of the code that changes the state; README.md has the order.
//
// Fork: a child keeps OwnState as it is. Wiped holds what a child must not
//   keep; the kernel zeroes it there.
// System calls that an allocation can lead to go through syscall(). A thread
//   can be cancelled in libc's functions for them, and malloc must not be a
//   place where that happens.
#ifndef KYMO_PROFILER_RECORD_HOST_OWN_HOST_H_
#define KYMO_PROFILER_RECORD_HOST_OWN_HOST_H_

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profiler/record/arena/arena.h"
#include "profiler/record/host/host_api.h"
#include "profiler/record/host/kept_descriptor.h"
#include "profiler/record/host/thread_stream.h"

namespace kymo::record {

inline constexpr size_t kMaxTrackedChunks = 1u << 16;
inline constexpr size_t kThreadNameBytes = 64;

struct ThreadToName {
  int32_t tid;  // 0 = none
  uint32_t name;
};
inline constexpr uint32_t kMaxThreadsToName = 256;

// The kernel zeroes this in a forked child: the lock is free there, although
// another thread may have held it, and the lists are empty.
struct Wiped {
  std::atomic<uint32_t> lock;
  uint32_t process_registered;
  uint32_t process;  // as StreamEntry has it
  std::atomic<uint32_t> mappings_recorded;
  // 1 while a thread records mappings, and has the buffer.
  std::atomic<uint32_t> maps_buffer_taken;
  char maps_buffer[8192];
  ThreadStream* free_streams;
  // Streams of threads that recorded after their exit handler had run. No
  // handler tells when these threads end.
  ThreadStream* late_streams;
  ThreadStream* slab_next;
  ThreadStream* slab_end;
  // Names that other threads gave to threads without a stream yet; a ring.
  ThreadToName threads_to_name[kMaxThreadsToName];
  uint32_t threads_to_name_count;
  // Chunks whose pages this process has made present.
  uint64_t populated[kMaxTrackedChunks / 64];
};

// One session of this process. Written under the lock, read without.
struct OwnSession {
  std::atomic<SessionId> id;  // 0 = not live
  SessionId to_read;          // the same until its chunks are read; 0 = free
  RecordFlags flags;
  bool enabled;
  bool all_threads;
  // Sessions of the process, counted from 1 as they start.
  std::atomic<uint64_t> number;
  // Threads that had something to record, which no session wanted, while this
  // one was live.
  std::atomic<uint32_t> threads_outside;
};

struct OwnState {
  std::atomic<Wiped*> wiped;
  // `arena` is set once, before this is.
  std::atomic<bool> has_arena;
  // The arena is a collector's.
  std::atomic<bool> has_collector;
  Arena arena;
  Gate* gates;
  pthread_key_t exit_key;
  bool has_exit_key;
  bool has_fork_handler;
  // Of the open door (door.h). Under the lock.
  KeptDescriptor door;
  KeptDescriptor knocker;  // the command that has the arena
  // The arena is a memfd, which can be handed over.
  KeptDescriptor arena_file;
  // This is a forked child whose parent had a door. Its gates are unresolved
  // again until OwnAddGate opens one.
  bool wants_door;
  // A command has the arena; it is `has_collector` only while it records.
  bool is_claimed;
  // The arena is that of this forked child's parent: it is only looked at.
  bool arena_is_parents;
  std::atomic<uint64_t> logical_threads;
  std::atomic<StackCapture> stack_capture;
  std::atomic<FileNumberAt> file_number_at;
  std::atomic<int64_t> node_number;  // the node's id + 1; 0 = none
  // The live kProcess session.
  std::atomic<SessionId> process_session;
  OwnSession sessions[kMaxSessions];
  std::atomic<uint64_t> sessions_started;
};
extern constinit OwnState own;

// The host's data about a thread, even if it has no stream. Plain words, which
// need neither construction nor destruction.
struct OwnThread {
  ThreadStream* stream;
  uint64_t logical_id;
  SessionId session;     // kThread session, perhaps not live any more
  uint32_t paused;       // SetThreadPaused
  uint32_t exit_rounds;  // how often the exit handler has run
  // Sessions of numbers up to this have counted the thread as outside, or were
  // over before it recorded.
  uint64_t outside_up_to;
  // How many locks and slow paths this thread is in. A signal handler that
  // interrupts them finds no slots, instead of waiting for itself.
  uint32_t busy;
  uint32_t name_size;
  char name[kThreadNameBytes];
};
extern constinit thread_local OwnThread own_thread
    __attribute__((tls_model("initial-exec")));

class Busy {
 public:
  Busy() noexcept {
    ++own_thread.busy;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Busy() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    --own_thread.busy;
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
};

// The lock of `wiped`, or another word that is 1 while it is held.
class Lock {
 public:
  explicit Lock(Wiped* wiped) noexcept : Lock(&wiped->lock) {}
  explicit Lock(std::atomic<uint32_t>* word) noexcept : word_(word) {
    for (int tries = 0; word_->exchange(1, std::memory_order_acquire) != 0;
         ++tries) {
      // Sleeping lets a holder of lower priority run, too.
      const timespec pause = {0, tries < 16 ? 0 : 50'000};
      syscall(SYS_nanosleep, &pause, nullptr);
    }
  }
  ~Lock() { word_->store(0, std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  const Busy busy_;
  std::atomic<uint32_t>* const word_;
};

// Private memory that reads as zero in a forked child; null when short.
void* MapWiped(size_t bytes) noexcept;
// Null when memory is short, or if the kernel cannot wipe it on fork. Nothing
// is recorded then. If there is an arena, it is counted there.
Wiped* GetWiped() noexcept;
// Counts a text that was cut or left out.
void OwnCountTruncated() noexcept;
// Whether this thread is in the host's code, which a signal handler must not
// enter again. Counts the record that the handler then loses.
bool InSlowPath() noexcept;

// Whether a collector is listening now.
inline bool CollectorRecords() noexcept {
  return own.has_collector.load(std::memory_order_relaxed) &&
         own.arena.header().recording.load(std::memory_order_relaxed) != 0;
}

inline int32_t ThreadId() noexcept {
  return static_cast<int32_t>(syscall(SYS_gettid));
}

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_OWN_HOST_H_
