// wait_writer.h - tells the collector of calls that blocked, in the profiled
// program.
//
//   if (!IsWatching()) return real.read(fd, bytes, size);
//   const uint64_t begin = CallTicks();
//   const ssize_t got = real.read(fd, bytes, size);
//   if (CallTicks() - begin >= watch.least_ticks) NoteCall(begin, ...);
//
// A thread's stack is the same after a call as before it. So a call that did
// not block costs two readings of a clock. One that took long enough costs its
// stack and a cell of the ring. Whether and how long it blocked the kernel's
// records of switches tell (backends/off_cpu/wait_log.h).
//
// A thread that has noted a call 20 ms before its end also notes that end, with
// what the kernel has counted for it: nobody can read that afterwards. This
// takes a descriptor for some microseconds.
//
// Needs libc only: no allocation, no lock.
//
// Threads: each call concerns the calling thread. All are async-signal-safe but
//   JoinWaitRing. NoteCall keeps errno.
#ifndef KYMO_BACKENDS_OFF_CPU_TARGET_WAIT_WRITER_H_
#define KYMO_BACKENDS_OFF_CPU_TARGET_WAIT_WRITER_H_

#include <stdint.h>

#include <atomic>

#include "backends/off_cpu/target/wait_ring.h"
#include "profiler/base/clock.h"

namespace kymo::off_cpu {

// Copies of the ring's, as they were checked.
struct Watch {
  std::atomic<bool> is_on{false};
  ClockSource clock = ClockSource::kSystem;
  uint32_t cell_count = 0;
  uint64_t least_ticks = 0;
  uint64_t least_busy_ticks = 0;
  WaitRingHeader* ring = nullptr;
};
extern constinit Watch watch __attribute__((visibility("hidden")));

// What a call waited for.
struct WaitedFor {
  CallKind kind = CallKind::kLock;
  uint64_t object = 0;
  CallObject object_is = CallObject::kOther;
  uint32_t holder_tid = 0;
  const void* function = nullptr;  // the real one
  // Of a condition.
  const void* mutex = nullptr;
  const void* mutex_function = nullptr;
  bool has_timed_out = false;  // it ended because of its time limit
  bool is_shared = false;      // of a wake: by several processes
};

// Begins to watch if the environment names a ring.
void JoinWaitRing() noexcept;

// For good. The program restricts its own system calls (seccomp): those that a
// stack or a cell takes might end it.
void StopWatching() noexcept;

inline bool IsWatching() noexcept {
  return watch.is_on.load(std::memory_order_acquire);  // then so is the ring
}
inline uint64_t CallTicks() noexcept { return ReadTicks(watch.clock); }

// Whether another call that ends a wait may be noted: there are too many in a
// program that hands over all the time. If not, that is counted.
bool MayNoteWake() noexcept;

// Notes a call of the program that has just ended, from its hook: the hook's
// caller is where the program waited.
void NoteCall(uint64_t begin_ticks, uint64_t end_ticks,
              const WaitedFor& what) noexcept;

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_TARGET_WAIT_WRITER_H_
