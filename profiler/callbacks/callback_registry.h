// callback_registry.h - the lists of callbacks; for the .cc files here only.
//
//   global list ---- immutable, replaced under a lock; each replacement has a
//        |           new version
//        v
//   CallbackThread   notices the version at its next operation, and reads the
//                    list again (callback_thread.h)
//
// Invariants:
//   1. A list is never changed once somebody else can see it.
//   2. version() changes after the list has; so who has seen version v and then
//      reads the list gets that of v, or a later one.
//   3. kGateObserved is set exactly while there are callbacks: in the global
//      list, or in some thread's own.
//   4. No callback is destroyed under the lock: its captures are the program's,
//      and may come back here.
//
// Threads: any. Errors: std::bad_alloc, for the callers that add or change.
#ifndef KYMO_PROFILER_CALLBACKS_CALLBACK_REGISTRY_H_
#define KYMO_PROFILER_CALLBACKS_CALLBACK_REGISTRY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "kymo/callbacks.h"

namespace kymo::internal {

struct RegisteredCallback {
  CallbackHandle handle = 0;
  std::shared_ptr<const RecordFunctionCallback> callback;
  bool enabled = true;
};

using CallbackList = std::vector<RegisteredCallback>;

// Null stands for an empty list.
using CallbackListPtr = std::shared_ptr<const CallbackList>;

inline int64_t CallbackCount(const CallbackListPtr& list) noexcept {
  return list == nullptr ? 0 : static_cast<int64_t>(list->size());
}

bool HasHandle(const CallbackListPtr& list, CallbackHandle handle) noexcept;

// Gives it a handle.
RegisteredCallback Register(RecordFunctionCallback callback);

// Changed copies. One without the handle comes back as it is.
CallbackListPtr WithEntry(const CallbackListPtr& list,
                          const RegisteredCallback& entry);
CallbackListPtr WithoutHandle(const CallbackListPtr& list,
                              CallbackHandle handle);
CallbackListPtr WithEnabled(const CallbackListPtr& list, CallbackHandle handle,
                            bool enabled);

class CallbackRegistry {
 public:
  constexpr CallbackRegistry() noexcept = default;

  // Never destroyed: threads perform operations while the program ends.
  static CallbackRegistry& Get() noexcept;

  // Relaxed: the list itself is read under the lock (invariant 2), and a change
  // need not be seen sooner than any other of the program's stores.
  static uint64_t version() noexcept {
    return version_.load(std::memory_order_relaxed);
  }
  CallbackListPtr list() noexcept;

  // Puts `change(list)` into the list's place. Returns false where that is the
  // same list. `change` runs under the lock.
  template <typename Change>
  bool Replace(Change change) {
    CallbackListPtr list;  // before the lock, for invariant 4
    const std::lock_guard lock(mutex_);
    list = change(list_);
    if (list == list_) return false;
    AddToCount(CallbackCount(list) - CallbackCount(list_));
    list_.swap(list);
    version_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  // Around a fork: a child must not get the lock from a thread that it lacks.
  void BeforeFork() noexcept { mutex_.lock(); }
  void AfterFork() noexcept { mutex_.unlock(); }

  // A thread has got so many more callbacks of its own.
  void CountThreadCallbacks(int64_t added) noexcept;

 private:
  // REQUIRES: the lock.
  void AddToCount(int64_t added) noexcept;

  std::mutex mutex_;
  CallbackListPtr list_;
  int64_t callbacks_ = 0;
  static inline constinit std::atomic<uint64_t> version_{1};
};

}  // namespace kymo::internal

#endif  // KYMO_PROFILER_CALLBACKS_CALLBACK_REGISTRY_H_
