// callbacks.h - run your own code at the start and end of operations.
//
//   const kymo::CallbackHandle handle =
//       kymo::AddGlobalCallback(kymo::RecordFunctionCallback(
//           [](const kymo::OperationView& operation) {
//             Print(operation.name);
//             return nullptr;   // or a context for the end
//           })
//           .scopes({kymo::RecordScope::kFunction}));
//   Work();
//   kymo::RemoveCallback(handle);
//
// A callback runs for every operation (RecordFunction) of its scopes, whether
// or not a session records. A global callback runs on every thread, a
// thread-local one on the thread that added it. Global callbacks run first.
// Callbacks of each kind run in the order in which they were added, at the
// start and at the end of an operation. PyTorch has the same in
// ATen/record_function.h.
//
// Sampling: a callback with a probability p < 1 runs for a random share p of
//   the operations of each thread and scope. It runs at both ends of an
//   operation, or at neither.
// Re-entry: callbacks do not run for operations that a callback performs, so a
//   callback may call the functions that it observes. Sessions record those
//   operations.
// Changes:  another thread sees a change at its next operation. So a callback
//   that was removed or disabled may still run on another thread when the call
//   returns. It also runs at the end of each operation whose start it has seen.
//   It is destroyed after the last such end, once every thread that had it has
//   performed another operation or has ended.
// Threads:  everything may be called concurrently, also from callbacks. A
//   signal handler must not perform operations while callbacks are registered,
//   because callbacks allocate.
// Errors:   an exception from a callback becomes a warning (warning.h), and the
//   other callbacks run. A probability outside of [0, 1] adds nothing: the
//   handle is 0, and there is a warning. Where memory is short, operations run
//   without callbacks. Functions that add or change callbacks may throw
//   std::bad_alloc.
// Copies:   if several shared libraries of a program each hold a copy of Kymo,
//   each copy has callbacks of its own.
// Cost:     nothing without callbacks. With callbacks, a few nanoseconds for an
//   operation for which none is due. An operation with a due callback
//   allocates; see docs/overhead.md.
#ifndef KYMO_PROFILER_API_CALLBACKS_H_
#define KYMO_PROFILER_API_CALLBACKS_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "profiler/base/op_inputs.h"
#include "profiler/base/record_scope.h"
#include "profiler/record/range.h"

namespace kymo {

// An operation, as a callback sees it. Valid during the call.
struct OperationView {
  std::string_view name;
  std::string_view overload_name;
  RecordScope scope = RecordScope::kFunction;
  uint64_t handle = 0;  // unique, from 1; 0 unless a callback needs ids
  int64_t sequence_nr = -1;
  uint64_t thread_id = 0;  // CurrentThreadId() of the thread that began it
  uint64_t forward_thread_id = 0;
  int64_t debug_handle = -1;
  int64_t node_id = -1;
  bool is_async = false;
  // Inputs at the start, outputs at the end. Empty unless a callback that is
  // due for the operation needs them.
  std::span<const Input> inputs;
  std::span<const record::Arg> kwinputs;
  std::span<const Input> outputs;
};

// An object that a start function hands to its end function. It is deleted
// after the end function, or without one, on the thread where the operation
// ends.
class ObserverContext {
 public:
  ObserverContext() = default;
  ObserverContext(const ObserverContext&) = delete;
  ObserverContext& operator=(const ObserverContext&) = delete;
  virtual ~ObserverContext() = default;
};

// A start function, an end function and their options. Either may be empty.
class RecordFunctionCallback {
 public:
  using StartFunction =
      std::function<std::unique_ptr<ObserverContext>(const OperationView&)>;
  using EndFunction =
      std::function<void(const OperationView&, ObserverContext* context)>;

  explicit RecordFunctionCallback(StartFunction start, EndFunction end = {})
      : start_(std::move(start)), end_(std::move(end)) {}

  RecordFunctionCallback& needs_inputs(bool needed) {
    needs_inputs_ = needed;
    return *this;
  }
  RecordFunctionCallback& needs_outputs(bool needed) {
    needs_outputs_ = needed;
    return *this;
  }
  RecordFunctionCallback& needs_ids(bool needed) {
    needs_ids_ = needed;
    return *this;
  }
  // The probability of each operation, in [0, 1]; 1 by default.
  RecordFunctionCallback& sampling_prob(double probability) {
    sampling_prob_ = probability;
    return *this;
  }
  // The scopes of operations. An empty list means all, which is the default.
  RecordFunctionCallback& scopes(std::initializer_list<RecordScope> scopes);

  const StartFunction& start() const { return start_; }
  const EndFunction& end() const { return end_; }
  bool needs_inputs() const { return needs_inputs_; }
  bool needs_outputs() const { return needs_outputs_; }
  bool needs_ids() const { return needs_ids_; }
  double sampling_prob() const { return sampling_prob_; }
  bool has_scope(RecordScope scope) const {
    return (scopes_ >> static_cast<int>(scope) & 1) != 0;
  }

 private:
  StartFunction start_;
  EndFunction end_;
  bool needs_inputs_ = false;
  bool needs_outputs_ = false;
  bool needs_ids_ = false;
  double sampling_prob_ = 1;
  uint32_t scopes_ = ~uint32_t{0};  // a bit for each scope
};

// A number that is unique in one copy of Kymo; 0: no callback.
using CallbackHandle = uint64_t;

CallbackHandle AddGlobalCallback(RecordFunctionCallback callback);
// Adds a callback of the calling thread until that thread ends. The callback
// goes along with work that is handed to other threads (thread_state.h).
CallbackHandle AddThreadLocalCallback(RecordFunctionCallback callback);
// Removes a global callback or one of the calling thread. An unknown handle
// gives a warning.
void RemoveCallback(CallbackHandle handle);
// Keeps the callback, but does not run it before ReenableCallback.
void DisableCallback(CallbackHandle handle);
void ReenableCallback(CallbackHandle handle);
void ClearGlobalCallbacks();
void ClearThreadLocalCallbacks();  // the calling thread's
void ClearCallbacks();             // both
bool HasGlobalCallbacks();         // disabled ones included
bool HasThreadLocalCallbacks();
bool HasCallbacks();

// Switches the operations of the calling thread off or on, for callbacks,
// sessions and collectors alike. They are on by default.
void EnableRecordFunction(bool enable);
bool IsRecordFunctionEnabled();

// Switches operations for a scope; its end brings back the state before.
class RecordFunctionGuard {
 public:
  explicit RecordFunctionGuard(bool enable = true)
      : before_(IsRecordFunctionEnabled()) {
    EnableRecordFunction(enable);
  }
  ~RecordFunctionGuard() { EnableRecordFunction(before_); }
  RecordFunctionGuard(const RecordFunctionGuard&) = delete;
  RecordFunctionGuard& operator=(const RecordFunctionGuard&) = delete;

 private:
  const bool before_;
};

class DisableRecordFunctionGuard : public RecordFunctionGuard {
 public:
  DisableRecordFunctionGuard() : RecordFunctionGuard(false) {}
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_CALLBACKS_H_
