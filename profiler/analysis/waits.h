// waits.h - what threads waited for: by place, by lock and by range.
//
//   for (const WaitGroup& group : WaitsByPlace(trace)) Print(group.stack);
//   for (const LockWaits& lock : WaitsByLock(trace)) Print(lock.holders);
//   for (const RangeSplit& range : SplitRanges(trace)) Print(range.on_cpu_ns);
//   const WaitSummary all = SummarizeWaits(trace);
//
// A wait belongs to the innermost range of its thread that was open when it
// began, and to the ranges around that one.
//
// A thread may wait for work. Such a wait is idle: it cost no operation any
// time, and the waits of a pool's workers would hide all others. A wait is idle
// if all of this is true:
//
// - It is of a kind by which threads wait for work: a condition variable, any
//   of several descriptors, a socket or a pipe.
// - No range of its thread was open.
// - Its thread has ranges elsewhere, or it is not the first thread of its
//   process, or it waits for clients: for a socket that listens, or for several
//   descriptors with such a one. Without ranges, nobody knows what else the
//   first thread waits for, and it is the one that the user waits for.
//
// A thread of Go's scheduler that has nothing to run is idle, too, whichever it
// is and however it waits. So is one that waits in Kymo's own code, for the
// clocks of other ranks, or in the runtime that Kymo preloads.
//
// Short waits (profiler/model/waits.h) have no place in time. They belong to no
// range, and they are idle only if their thread has no range at all.
//
// All sums are zero, and lists empty, if the trace has no waits.
//
// Cost: linear in the waits, the events of threads that waited, and the stacks.
#ifndef KYMO_PROFILER_ANALYSIS_WAITS_H_
#define KYMO_PROFILER_ANALYSIS_WAITS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"
#include "profiler/model/trace.h"
#include "profiler/model/waits.h"

namespace kymo::analysis {

inline constexpr size_t kWaitKinds =
    static_cast<size_t>(model::kLastWaitKind) + 1;
using TimeByKind = std::array<DurationNs, kWaitKinds>;

struct WaitGroup {
  model::TrackIndex track = model::kNoTrack;  // kNoTrack: of any threads
  model::WaitKind kind = model::WaitKind::kUnknown;
  bool is_idle = false;
  model::StackId stack = model::kEmptyStack;
  uint64_t count = 0;
  DurationNs duration_ns = 0;  // until the threads ran again
  DurationNs longest_ns = 0;
  // Where other threads ended most of that time, as far as anybody saw.
  model::StackId waker_stack = model::kEmptyStack;
  // What most of that time was for, and how many different things all of it. 0:
  // nobody knows it.
  uint64_t object = 0;
  model::NameId object_name = model::kEmptyName;
  uint64_t object_count = 0;

  friend bool operator==(const WaitGroup&, const WaitGroup&) = default;
};

// By stack and kind, idle ones apart. The longest duration first; ties by kind,
// then stack.
std::vector<WaitGroup> WaitsByPlace(const model::Trace& trace);

// The same for each thread by itself, by thread first.
std::vector<WaitGroup> WaitsByThreadAndPlace(const model::Trace& trace);

// Whether each of thread_states()->waits is idle.
std::vector<bool> IdleWaits(const model::Trace& trace);

// The thread that another one waited for: that which was seen to hold the lock,
// or else that which gave it back. kNoTrack: nobody saw it, or the wait is not
// for a lock.
struct LockHolder {
  model::TrackIndex track = model::kNoTrack;
  model::StackId stack = model::kEmptyStack;
};
LockHolder HolderOf(const model::Wait& wait);

// Of a lock that has no name: where it came from.
enum class LockOrigin : uint8_t {
  kUnknown,
  kAllocated,  // its memory was allocated there
  kFirstWait,  // the first thread that was seen to wait for it did so there
};

// What tells locks apart: process, address and name. Of one that processes
// share it is the name alone.
using LockKey = std::tuple<int64_t, uint64_t, model::NameId>;
LockKey LockKeyOf(const model::Trace& trace, model::TrackIndex track,
                  uint64_t object, model::NameId name);

// The waits for one lock: of one process, or of all that share it.
struct LockWaits {
  bool is_shared = false;
  int64_t pid = 0;      // 0: of several processes
  uint64_t object = 0;  // its address; 0: nobody saw it, or several have it
  model::NameId name = model::kEmptyName;
  LockOrigin origin = LockOrigin::kUnknown;
  model::StackId origin_stack = model::kEmptyStack;
  uint64_t count = 0;
  DurationNs duration_ns = 0;
  DurationNs longest_ns = 0;
  // The longest duration first: by stack, where threads waited, and by thread
  // and stack, where those were that they waited for. Of a holder that nobody
  // saw with a stack, it is that of the thread that gave the lock back. Both
  // add up to the same. The empty stack: nobody knows it, as of all short
  // waits' holders. HoldersByPlace (wait_names.h) has fewer rows.
  std::vector<WaitGroup> waiters;
  std::vector<WaitGroup> holders;
};

// Waits of the kind kLock. The longest duration first; ties by process and
// address.
std::vector<LockWaits> WaitsByLock(const model::Trace& trace);

inline constexpr DurationNs kNoWaitTime = -1;

// By event: for how long its thread waited in it, in ranges inside of it, too.
// kNoWaitTime: nobody recorded the waits of its thread, or it is no range, or
// an asynchronous one. Empty if the trace has no waits.
std::vector<DurationNs> WaitTimesOfRanges(const model::Trace& trace);

// How the time of ranges was spent.
struct RangeSplit {
  std::string name;  // "ProfilerStep#7" counts as "ProfilerStep*"
  uint64_t count = 0;
  DurationNs duration_ns = 0;
  DurationNs on_cpu_ns = 0;    // the rest: short waits are in it
  DurationNs runnable_ns = 0;  // as far as anybody saw
  TimeByKind blocked_ns = {};

  DurationNs all_blocked_ns() const;
  DurationNs wait_ns() const { return runnable_ns + all_blocked_ns(); }
};

// Ranges of threads whose times were recorded, by name. Asynchronous ranges,
// instants and repeated events (kEventRepeated) are left out. A range that
// encloses one of its own name counts its time again, as key_averages.h. Those
// that waited longest are first; ties by name.
std::vector<RangeSplit> SplitRanges(const model::Trace& trace);

// Of all threads together, without the time in which they were runnable. Where
// nobody saw when waits of a thread ended, all of them are shorter by the part
// of which only the thread's times know.
struct WaitSummary {
  DurationNs idle_ns = 0;
  TimeByKind blocked_ns = {};  // what was not idle, by kind
};
WaitSummary SummarizeWaits(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_WAITS_H_
