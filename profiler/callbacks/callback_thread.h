// callback_thread.h - a thread's view of the callbacks; for the .cc files here
// only.
//
//   CallbackThread* const thread = CallbackThread::Get();
//   if (thread == nullptr || !thread->IsDue(op.scope)) return;
//   DueCallbacks due = thread->TakeDue(op.scope);
//
// Per scope, a thread keeps the callbacks that an operation may meet: the
// global ones, then its own, without those that are disabled or of probability
// 0. Each has a countdown (sampling_countdown.h), and the scope has the least
// of them. So an operation for which none is due costs one decrement, however
// many callbacks are sampled:
//
//   countdowns  7 3 9  ->  until_due 3;  at the third operation 4 0 6, run the
//   second callback, draw it a new countdown.
//
// A callback without sampling has the countdown 1 always.
//
// Life: made at a thread's first operation or change of callbacks while there
//   are any, gone at the thread's end; what the destructors of other thread
//   locals do afterwards is not observed.
// Threads: an object is its thread's.
#ifndef KYMO_PROFILER_CALLBACKS_CALLBACK_THREAD_H_
#define KYMO_PROFILER_CALLBACKS_CALLBACK_THREAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kymo/callbacks.h"
#include "profiler/callbacks/callback_registry.h"
#include "profiler/callbacks/sampling_countdown.h"

namespace kymo::internal {

// Callbacks, and the lists that keep them alive. Shared by the operations of
// one thread alone: a count of references that all threads change would make
// every observed operation wait for every other.
struct CallbackLists {
  CallbackListPtr global;
  CallbackListPtr own;
};

struct DueCallback {
  const RecordFunctionCallback* callback;
  std::unique_ptr<ObserverContext> context;  // between its start and its end
};

struct DueCallbacks {
  // First: the callbacks outlive the contexts that they made.
  std::shared_ptr<const CallbackLists> owner;
  std::vector<DueCallback> callbacks;
};

class CallbackThread {
 public:
  CallbackThread() noexcept;
  ~CallbackThread();
  CallbackThread(const CallbackThread&) = delete;
  CallbackThread& operator=(const CallbackThread&) = delete;

  // The calling thread's; null once the thread is being torn down.
  static CallbackThread* Get() noexcept;

  const CallbackListPtr& own_list() const noexcept { return own_list_; }
  void SetOwnList(CallbackListPtr list) noexcept;

  bool enabled() const noexcept { return enabled_; }
  void SetEnabled(bool enabled) noexcept;

  // Counts an operation; whether callbacks are due for it.
  bool IsDue(RecordScope scope) noexcept {
    const auto index = static_cast<size_t>(scope);
    if (!enabled_ || in_callback_ || index >= scopes_.size()) return false;
    if (seen_version_ != CallbackRegistry::version() && !Refresh()) {
      return false;
    }
    return --scopes_[index].until_due == 0;
  }

  // Those that are due; std::bad_alloc leaves them to the next operation.
  // REQUIRES: IsDue(scope) was true, just now.
  DueCallbacks TakeDue(RecordScope scope);

  // Marks the thread as being in a callback, whose own operations are not
  // observed; returns what it was.
  bool ExchangeInCallback(bool in_callback) noexcept {
    const bool before = in_callback_;
    in_callback_ = in_callback;
    return before;
  }

 private:
  struct Sampled {
    const RecordFunctionCallback* callback;
    int64_t countdown;
  };
  struct Scope {
    std::vector<Sampled> callbacks;
    int64_t until_due = kNever;
    int64_t counted_from = kNever;  // until_due when the countdowns were right
  };

  // Reads the lists again. False when memory is short; then the old ones stay,
  // and the next operation tries again.
  bool Refresh() noexcept;
  void AddToScopes(const CallbackListPtr& list, std::vector<Sampled>* scopes);
  static void CountFromHere(Scope& scope) noexcept;

  CallbackListPtr own_list_;
  bool enabled_ = true;
  bool in_callback_ = false;
  uint64_t seen_version_ = 0;
  std::shared_ptr<const CallbackLists> lists_;
  std::array<Scope, static_cast<size_t>(RecordScope::kCount)> scopes_;
  SamplingRandom random_;
};

}  // namespace kymo::internal

#endif  // KYMO_PROFILER_CALLBACKS_CALLBACK_THREAD_H_
