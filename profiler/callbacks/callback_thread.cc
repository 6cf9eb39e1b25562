#include "profiler/callbacks/callback_thread.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "profiler/record/host/host.h"

namespace kymo::internal {
namespace {

// Plain words, readable at any time of a thread's life.
constinit thread_local CallbackThread* current = nullptr;
constinit thread_local bool is_gone = false;

// Different for threads, and for runs of a program.
uint64_t Seed(const void* thread) noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return static_cast<uint64_t>(now) ^ reinterpret_cast<uintptr_t>(thread) << 20;
}

}  // namespace

CallbackThread::CallbackThread() noexcept : random_(Seed(this)) {
  current = this;
}

CallbackThread::~CallbackThread() {
  // First: the callbacks' captures are destroyed after this body, and may
  // perform operations.
  current = nullptr;
  is_gone = true;
  CallbackRegistry::Get().CountThreadCallbacks(-CallbackCount(own_list_));
}

CallbackThread* CallbackThread::Get() noexcept {
  if (current == nullptr && !is_gone) {
    static thread_local CallbackThread thread;
    return &thread;
  }
  return current;
}

void CallbackThread::SetOwnList(CallbackListPtr list) noexcept {
  CallbackRegistry::Get().CountThreadCallbacks(CallbackCount(list) -
                                               CallbackCount(own_list_));
  seen_version_ = 0;
  own_list_.swap(list);
}

void CallbackThread::SetEnabled(bool enabled) noexcept {
  if (enabled_ == enabled) return;
  enabled_ = enabled;
  record::SetThreadPaused(!enabled);
}

void CallbackThread::AddToScopes(const CallbackListPtr& list,
                                 std::vector<Sampled>* scopes) {
  if (list == nullptr) return;
  for (const RegisteredCallback& entry : *list) {
    const double probability = entry.callback->sampling_prob();
    if (!entry.enabled || probability <= 0) continue;
    for (size_t s = 0; s < scopes_.size(); ++s) {
      if (!entry.callback->has_scope(static_cast<RecordScope>(s))) continue;
      scopes[s].push_back(
          {entry.callback.get(), random_.DrawCountdown(probability)});
    }
  }
}

void CallbackThread::CountFromHere(Scope& scope) noexcept {
  int64_t least = kNever;
  for (const Sampled& sampled : scope.callbacks) {
    least = std::min(least, sampled.countdown);
  }
  scope.until_due = scope.counted_from = least;
}

bool CallbackThread::Refresh() noexcept {
  // These two take the old lists, which are destroyed when the function
  // returns. The last reference to a callback destroys its captures, and these
  // may perform operations.
  std::shared_ptr<const CallbackLists> lists;
  std::array<std::vector<Sampled>, static_cast<size_t>(RecordScope::kCount)>
      callbacks;
  const uint64_t version = CallbackRegistry::version();
  try {
    lists = std::make_shared<const CallbackLists>(
        CallbackLists{CallbackRegistry::Get().list(), own_list_});
    AddToScopes(lists->global, callbacks.data());
    AddToScopes(lists->own, callbacks.data());
  } catch (const std::bad_alloc&) {
    return false;
  }
  for (size_t s = 0; s < scopes_.size(); ++s) {
    scopes_[s].callbacks.swap(callbacks[s]);
    CountFromHere(scopes_[s]);
  }
  lists_.swap(lists);
  seen_version_ = version;
  return true;
}

DueCallbacks CallbackThread::TakeDue(RecordScope scope_name) {
  Scope& scope = scopes_[static_cast<size_t>(scope_name)];
  // For the next operation, should memory be short here.
  scope.until_due = 1;
  DueCallbacks due{lists_, {}};
  due.callbacks.reserve(scope.callbacks.size());
  for (Sampled& sampled : scope.callbacks) {
    sampled.countdown -= scope.counted_from;
    if (sampled.countdown > 0) continue;
    sampled.countdown =
        random_.DrawCountdown(sampled.callback->sampling_prob());
    due.callbacks.push_back({sampled.callback, nullptr});
  }
  CountFromHere(scope);
  return due;
}

}  // namespace kymo::internal
