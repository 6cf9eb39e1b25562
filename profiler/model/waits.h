// waits.h - where threads waited, and for what.
//
//   const ThreadStates& states = *trace.thread_states();
//   for (const Wait& wait : states.waits) Print(wait.kind, wait.duration_ns);
//   for (const WaitSum& sum : states.short_waits) Print(sum.kind, sum.count);
//
// A wait is the time between a thread's leaving its CPU and its next CPU. First
// it is blocked, then runnable: woken up, but without a CPU. A thread that was
// preempted is runnable all the time.
//
// Waits of at least `ThreadStates::min_wait_ns` are kept one by one. Shorter
// ones, and those that are too many to keep, are summed by thread, kind, stack
// and object. No wait is in both.
//
// Units: nanoseconds, of the trace's clock. Threads: values.
#ifndef KYMO_PROFILER_MODEL_WAITS_H_
#define KYMO_PROFILER_MODEL_WAITS_H_

#include <cstdint>
#include <string_view>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"

namespace kymo::model {

// What a thread waited for. Files hold these numbers: a new kind goes to the
// end.
enum class WaitKind : uint8_t {
  kUnknown,    // nobody saw it
  kLock,       // a mutex, a semaphore, a read-write lock
  kCondition,  // a condition variable, a barrier, the end of a thread
  kSleep,
  kRead,     // a file or a disk
  kWrite,    // the same
  kPoll,     // any of several descriptors: poll, select, epoll_wait
  kNetwork,  // a socket, or a queue of messages
  kChild,    // the end of a process
  kPageFault,
  kCpuBusy,  // preempted: other threads had the CPU
  kOther,
  kPipe,  // a pipe or a FIFO, whether it is read or written
};
inline constexpr WaitKind kLastWaitKind = WaitKind::kPipe;

inline constexpr DurationNs kLongWaitNs = 100 * kNsPerMs;

// What Python's global interpreter lock is called (Wait::object_name).
inline constexpr std::string_view kGilName = "GIL";

// As in tables and files: "lock", "page fault", ...
std::string_view NameOf(WaitKind kind);

struct Wait {
  TrackIndex track = 0;
  WaitKind kind = WaitKind::kUnknown;
  bool is_open = false;  // it went on when the recording ended
  TimeNs begin_ns = 0;
  DurationNs duration_ns = 0;
  // How long it was runnable at the end, at most all the time. -1: nobody saw
  // when it was woken.
  DurationNs runnable_ns = -1;
  StackId stack = kEmptyStack;  // where the thread waited
  // The futex's address, the descriptor, or the child's id, by kind. 0: none.
  uint64_t object = 0;
  NameId object_name = kEmptyName;  // a path, a socket, kGilName, ...
  // The thread that ended the wait, and where it did so. Of a lock: who gave it
  // back. kNoTrack: nobody saw it, or it is no thread of the trace.
  TrackIndex waker = kNoTrack;
  StackId waker_stack = kEmptyStack;
  // The thread that was seen to hold the lock meanwhile, and where it was then.
  // From when on of the wait: HolderCountsFromNs.
  TrackIndex holder = kNoTrack;
  StackId holder_stack = kEmptyStack;

  TimeNs end_ns() const { return begin_ns + duration_ns; }
  // Until it was woken, as far as anybody saw.
  DurationNs blocked_ns() const {
    return runnable_ns < 0 ? duration_ns : duration_ns - runnable_ns;
  }
  friend bool operator==(const Wait&, const Wait&) = default;
};

// How far into a wait a look at the lock's holder counts. A lock goes on from
// thread to thread, so an early look says little of a long wait.
constexpr DurationNs HolderCountsFromNs(DurationNs wait_ns) noexcept {
  return wait_ns < kLongWaitNs ? 0 : wait_ns / 4;
}

struct WaitSum {
  TrackIndex track = 0;
  WaitKind kind = WaitKind::kUnknown;
  StackId stack = kEmptyStack;
  uint64_t object = 0;
  NameId object_name = kEmptyName;
  uint64_t count = 0;
  DurationNs duration_ns = 0;
  DurationNs longest_ns = 0;

  friend bool operator==(const WaitSum&, const WaitSum&) = default;
};

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_WAITS_H_
