// lent_state.h - lends a state to a thread, and takes it back; for Kymo's own
// headers and .cc files.
//
//   const LoanId loan = LendState(state);
//   ...
//   ReturnState(loan);
//
// A thread may have several loans at a time. It works in the newest state.
// Loans end in any order:
//
//   lend A   lend B   return A   return B
//   A        B        B          the state before A
//
// Threads: a loan belongs to the thread that made it. On any other thread
//   ReturnState does nothing, so no thread gets the state of another one.
// Errors:  LendState may throw std::bad_alloc; then it has changed nothing.
// Cost:    nothing allocates but a thread's first loan, and each that is deeper
//   than all before.
#ifndef KYMO_PROFILER_CALLBACKS_LENT_STATE_H_
#define KYMO_PROFILER_CALLBACKS_LENT_STATE_H_

#include <cstdint>
#include <memory>

#include "profiler/callbacks/observed_call.h"
#include "profiler/record/host/host.h"

namespace kymo::internal {

// What a thread hands on with its work.
struct StateOfThread {
  record::SessionId session = record::kNoSession;
  std::shared_ptr<const ThreadCallbacks> callbacks;
};

// Unique in the process. 0 is no loan.
using LoanId = uint64_t;

// Gives the calling thread a state.
LoanId LendState(const StateOfThread& state);

// Gives the calling thread the state that it had before the loan, if no newer
// loan covers it. A session that the thread has started since is kept: a
// thread is in its own session until that stops.
void ReturnState(LoanId loan) noexcept;

}  // namespace kymo::internal

#endif  // KYMO_PROFILER_CALLBACKS_LENT_STATE_H_
