// lock_names.h - tells locks from conditions by the functions that wait.
//
//   TellLocksFromConditions(shard, states);   // when stacks have names
//
// Both wait for a futex, in the same ways. The C library's semaphores and the
// locks of other libraries look like its conditions.
//
// Threads: none.
#ifndef KYMO_BACKENDS_OFF_CPU_LOCK_NAMES_H_
#define KYMO_BACKENDS_OFF_CPU_LOCK_NAMES_H_

#include <optional>
#include <string_view>

#include "profiler/model/thread_states.h"
#include "profiler/model/trace_shard.h"
#include "profiler/model/waits.h"

namespace kymo::off_cpu {

// What a function of that name waits for: a lock, a condition, or nothing that
// its name says.
std::optional<model::WaitKind> KindOfFunction(std::string_view function);

// The innermost function that says anything counts. Waits for the lock of a
// Python interpreter become those for a lock called "GIL".
void TellLocksFromConditions(model::TraceShard& shard,
                             model::ThreadStates& states);

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_LOCK_NAMES_H_
