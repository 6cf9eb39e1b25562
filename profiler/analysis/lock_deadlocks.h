// lock_deadlocks.h - threads that wait for ever for locks.
//
//   for (const LockDeadlock& deadlock : LockDeadlocks(trace)) {
//     for (const uint32_t i : deadlock.circle) {
//       const model::Wait& wait = trace.thread_states()->waits[i];
//       Print(wait.track, wait.object, wait.holder);
//     }
//   }
//
// Each thread of a circle waited for a lock that the next one held, when the
// recording or the threads ended. A look saw the holder after the first quarter
// of the wait (HolderCountsFromNs). The holder waited itself by then, so it
// cannot have given the lock back. A wait with a time limit may end later.
//
// Or the holder had ended by then, or it is a thread of a parent process: what
// fork() copied has the parent's locks, but not its threads.
//
// Not seen: waits that signals interrupt, since each begins anew; locks whose
// holder nobody sees (docs/waiting.md).
//
// Threads: any. Cost: a pass over the waits.
#ifndef KYMO_PROFILER_ANALYSIS_LOCK_DEADLOCKS_H_
#define KYMO_PROFILER_ANALYSIS_LOCK_DEADLOCKS_H_

#include <cstdint>
#include <vector>

#include "profiler/model/trace.h"

namespace kymo::analysis {

enum class DeadlockCause : uint8_t {
  kCircle,       // each waits for the next one
  kEndedHolder,  // whoever held the lock has ended
  kFork,         // a thread of the parent process holds it
};

// Indices of thread_states()->waits.
struct LockDeadlock {
  DeadlockCause cause = DeadlockCause::kCircle;
  // Each for a lock of the next one's thread; the last, of the first one's. The
  // one that began first is first. One alone: its thread holds the lock itself.
  // Of the other causes: one wait for the lock, the first.
  std::vector<uint32_t> circle;
  // Of other threads, for a lock of one of these threads or of the circle's.
  std::vector<uint32_t> others;
};

std::vector<LockDeadlock> LockDeadlocks(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_LOCK_DEADLOCKS_H_
