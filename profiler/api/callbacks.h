// callbacks.h - run code of one's own around operations.
//
//   auto handle = kymo::AddGlobalCallback(
//       kymo::RecordFunctionCallback(
//           [](const kymo::OperationView& op) {
//             Log(op.name);
//             return nullptr;    // or a context for the end
//           })
//           .needs_inputs(true)
//           .scopes({kymo::RecordScope::kFunction}));
//   ...
//   kymo::RemoveCallback(handle);
//
// A callback runs for every operation (RecordFunction) of its scopes, on every
// thread (global) or on the thread that added it (thread-local), whether or not
// a session records. Global ones run first, each kind in the order in which
// they were added, and at the end in that same order. What PyTorch has in
// ATen/record_function.h.
//
// Sampling: with probability p < 1 a callback runs for a random share p of the
//   operations of each thread and scope, start and end together.
// Re-entry: operations that a callback itself performs are not observed, so
//   that it may call what it observes. Sessions record them.
// Changes:  other threads see one at their next operation. A callback that is
//   removed or disabled may still be running elsewhere when the call returns,
//   and it runs at the end of operations that it has seen begin. It is
//   destroyed when the last of these has ended and every thread that had it has
//   performed another operation or ended.
// Errors:   an exception from a callback is swallowed and becomes a warning
//   (warning.h), and the other callbacks run. A probability outside of [0, 1]
//   adds nothing: handle 0, and a warning. Where memory is short, operations
//   are not observed; functions that add or change may throw std::bad_alloc.
// Threads:  everything may be called concurrently, also from callbacks.
//   Operations in signal handlers must not meet callbacks: those allocate.
// Copies:   a program made of several shared libraries that each hold a copy of
//   Kymo has callbacks for each copy.
// Cost:     without callbacks, none. With some, a few nanoseconds for an
//   operation that none is due for; one that is due allocates, see
//   docs/overhead.md.
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

// What a callback learns about an operation. Valid during the call.
struct OperationView {
  std::string_view name;
  std::string_view overload_name;
  RecordScope scope = RecordScope::kFunction;
  uint64_t handle = 0;  // unique, from 1, if some callback needs ids
  int64_t sequence_nr = -1;
  uint64_t thread_id = 0;  // CurrentThreadId() where it began
  uint64_t forward_thread_id = 0;
  int64_t debug_handle = -1;
  int64_t node_id = -1;
  bool is_async = false;
  // If some callback that is due for the operation needs them: inputs at the
  // start, outputs at the end.
  std::span<const Input> inputs;
  std::span<const record::Arg> kwinputs;
  std::span<const Input> outputs;
};

// What a start hands to its end. Deleted after the end, also where there is no
// end function; on the thread where the operation ends.
class ObserverContext {
 public:
  ObserverContext() = default;
  ObserverContext(const ObserverContext&) = delete;
  ObserverContext& operator=(const ObserverContext&) = delete;
  virtual ~ObserverContext() = default;
};

// A pair of functions and their options; either function may be empty.
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
  // In [0, 1]; 1 by default.
  RecordFunctionCallback& sampling_prob(double probability) {
    sampling_prob_ = probability;
    return *this;
  }
  // All by default, and for an empty list.
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
  uint32_t scopes_ = ~uint32_t{0};  // by bit
};

// Unique in the process's copy of Kymo; 0 is none.
using CallbackHandle = uint64_t;

CallbackHandle AddGlobalCallback(RecordFunctionCallback callback);
// The calling thread's, until its end. It goes along with work that is handed
// to other threads (thread_state.h).
CallbackHandle AddThreadLocalCallback(RecordFunctionCallback callback);
// One of the calling thread, or a global one. An unknown handle is a warning.
void RemoveCallback(CallbackHandle handle);
// Keeps the callback, but does not run it until it is enabled again.
void DisableCallback(CallbackHandle handle);
void ReenableCallback(CallbackHandle handle);
void ClearGlobalCallbacks();
void ClearThreadLocalCallbacks();  // the calling thread's
void ClearCallbacks();             // both
bool HasGlobalCallbacks();         // also those that are disabled
bool HasThreadLocalCallbacks();
bool HasCallbacks();

// Switches operations of the calling thread off for everybody: callbacks,
// sessions, collectors. On by default.
void EnableRecordFunction(bool enable);
bool IsRecordFunctionEnabled();

// Switches for a scope, and back.
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
