// holder_stacks.h - finds out where threads were that held locks, or that were
// preempted.
//
//   FindHolderStacks(samples, data, states);   // after both were merged
//   FindBusyStacks(samples, data, states);
//
// A look from outside tells who holds a lock, but no stack if that thread runs.
// Then samples have its stacks. The first one within the wait counts: a thread
// that got the lock during the wait was itself blocked before, and one that
// held it from the begin may have done something else after that. A holder
// without a sample may itself have been blocked: then it was there.
//
// A preempted thread was where its last sample is, if it was not blocked since.
// So was one that was stopped while it read the clock: a look finds no caller
// of the kernel's function for that, which runs in the program ([vdso]).
//
// Kymo's hooks are no functions of the program. A stack that ends in one begins
// where the program called it.
//
// Pure function. Cost: a binary search for each such wait.
#ifndef KYMO_PROFILER_NORMALIZE_HOLDER_STACKS_H_
#define KYMO_PROFILER_NORMALIZE_HOLDER_STACKS_H_

#include <span>

#include "profiler/model/records.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace.h"

namespace kymo {

// Fills in stacks of holders that have none. `samples`: by track, then by time.
// The stacks are those of `data`.
void FindHolderStacks(std::span<const model::StackSample> samples,
                      const model::TraceData& data,
                      model::ThreadStates& states);

// Fills in stacks of waits for a CPU that have none, and of stopped threads
// that have no function but the clock's. The samples may be up to 20 ms older
// than the wait.
void FindBusyStacks(std::span<const model::StackSample> samples,
                    const model::TraceData& data, model::ThreadStates& states);

}  // namespace kymo

#endif  // KYMO_PROFILER_NORMALIZE_HOLDER_STACKS_H_
