// observed_call.h - operations as callbacks watch them; for Kymo's own headers
// and .cc files.
//
//   ObservedCall* call = nullptr;
//   if (IsObservationDue(RecordScope::kFunction)) [[unlikely]] {
//     call = StartObserved({.name = "op"});
//   }
//   ...
//   if (call != nullptr) EndObserved(call, outputs);
//
// And a thread's own callbacks as a value, for work that is handed to other
// threads: CaptureThreadCallbacks here, ExchangeThreadCallbacks there, and once
// more with what it returned.
//
// Threads: any. Errors: none for operations; where memory is short they are not
//   observed. The functions for threads may throw std::bad_alloc.
#ifndef KYMO_PROFILER_CALLBACKS_OBSERVED_CALL_H_
#define KYMO_PROFILER_CALLBACKS_OBSERVED_CALL_H_

#include <memory>
#include <span>

#include "kymo/callbacks.h"
#include "profiler/base/op_inputs.h"
#include "profiler/base/record_scope.h"

namespace kymo::internal {

struct ObservedCall;
// A thread's own callbacks, and whether its operations are enabled.
struct ThreadCallbacks;

// Counts an operation of the calling thread; whether callbacks are due for it.
bool IsObservationDue(RecordScope scope) noexcept;
// Runs the starts that are due; null where memory is short. `op` needs no
// handle and no thread id. REQUIRES: IsObservationDue(op.scope), just now.
ObservedCall* StartObserved(const OperationView& op) noexcept;
// Runs the ends and frees the call. From any thread.
void EndObserved(ObservedCall* call, std::span<const Input> outputs) noexcept;

// Null stands for no callbacks, and enabled.
std::shared_ptr<const ThreadCallbacks> CaptureThreadCallbacks();
// Replaces the calling thread's; returns what it had.
std::shared_ptr<const ThreadCallbacks> ExchangeThreadCallbacks(
    std::shared_ptr<const ThreadCallbacks> callbacks);

}  // namespace kymo::internal

#endif  // KYMO_PROFILER_CALLBACKS_OBSERVED_CALL_H_
