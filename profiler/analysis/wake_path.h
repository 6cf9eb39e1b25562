// wake_path.h - which threads held up the end of a program.
//
//   if (HasWakePath(trace)) {
//     for (const WakeStep& step : FindWakePath(trace)) Print(step);
//   }
//
// The path is followed from the end of the program back to its begin. At each
// time it is on one thread:
//
//   on CPU    the thread ran. That time is its own. Waits that are too short to
//             have a place in time are in it.
//   runnable  the thread was woken, or preempted, and no CPU was free
//   blocked   the path goes on with the thread that ended the wait, from the
//             time at which it did so. If nobody saw that, with the thread that
//             held the lock; or, if the thread waited for the end of a child
//             or of a thread, with the one that ended last before. (The signal
//             of a child's end may end a poll, too.) If none of these is known,
//             the wait itself is on the path: a timer, a disk or another
//             program ended it.
//
// At the begin of a thread the path goes on with the thread that made it.
//
// The end of the program is that of its first thread. If that ended long before
// another one, or still waits, it is the thread that ended last.
//
// The steps have no gaps. A thread's time on the path is the most by which the
// program would have ended sooner without that work.
//
// Cost: a binary search for each step.
#ifndef KYMO_PROFILER_ANALYSIS_WAKE_PATH_H_
#define KYMO_PROFILER_ANALYSIS_WAKE_PATH_H_

#include <cstddef>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"
#include "profiler/model/waits.h"

namespace kymo::analysis {

enum class WakeCause : uint8_t { kOnCpu, kRunnable, kBlocked };

struct WakeStep {
  WakeCause cause = WakeCause::kOnCpu;
  model::TrackIndex track = 0;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  // The wait that it is a part of, one of thread_states()->waits. Null: on CPU.
  const model::Wait* wait = nullptr;

  DurationNs duration_ns() const { return end_ns - start_ns; }
  friend bool operator==(const WakeStep&, const WakeStep&) = default;
};

// Whether the path through wakes tells more than that of ranges
// (critical_path.h): no device worked, and somebody recorded when threads
// began, ended and waited.
bool HasWakePath(const model::Trace& trace);

// In the order of time. Steps of no time are left out. They live as long as the
// trace. REQUIRES: HasWakePath(trace).
std::vector<WakeStep> FindWakePath(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_WAKE_PATH_H_
