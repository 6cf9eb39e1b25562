// tasks.h - ITT's ranges that belong to one thread.
//
//   task_begin, task_end           a stack per domain
//   stack_callee_enter, _leave     a range "task" on the thread that does a
//                                  piece of work, of oneTBB for instance; the
//                                  argument `caller` is the same for all tasks
//                                  of one algorithm
//
// The functions have the names of ITT's own. Threads: any.
#ifndef KYMO_BACKENDS_ITT_TARGET_TASKS_H_
#define KYMO_BACKENDS_ITT_TARGET_TASKS_H_

#include "backends/itt/target/itt_abi.h"

namespace kymo::itt {

void TaskBegin(const Domain* domain, Id id, Id parent,
               StringHandle* name) noexcept;
// Named by the function's symbol.
void TaskBeginFn(const Domain* domain, Id id, Id parent,
                 void (*function)()) noexcept;
void TaskEnd(const Domain* domain) noexcept;

void* StackCallerCreate() noexcept;
void StackCalleeEnter(void* caller) noexcept;
void StackCalleeLeave(void* caller) noexcept;

}  // namespace kymo::itt

#endif  // KYMO_BACKENDS_ITT_TARGET_TASKS_H_
