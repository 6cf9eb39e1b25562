// holder_stacks.h - finds out from samples where threads were that held locks.
//
//   FindHolderStacks(samples, states);   // after both were merged
//
// A look from outside tells who holds a lock, but no stack if that thread runs.
// Then samples have its stacks. The first one within the wait counts: a thread
// that got the lock during the wait was itself blocked before, and one that
// held it from the begin may have done something else after that.
//
// Pure function. Cost: a binary search for each such wait.
#ifndef KYMO_PROFILER_NORMALIZE_HOLDER_STACKS_H_
#define KYMO_PROFILER_NORMALIZE_HOLDER_STACKS_H_

#include <span>

#include "profiler/model/records.h"
#include "profiler/model/thread_states.h"

namespace kymo {

// Fills in stacks of holders that have none. `samples`: by track, then by time.
void FindHolderStacks(std::span<const model::StackSample> samples,
                      model::ThreadStates& states);

}  // namespace kymo

#endif  // KYMO_PROFILER_NORMALIZE_HOLDER_STACKS_H_
