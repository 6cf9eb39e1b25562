#include "kymo/callbacks.h"

#include "kymo/warning.h"
#include "profiler/callbacks/callback_registry.h"
#include "profiler/callbacks/callback_thread.h"

namespace kymo {
namespace {

using internal::CallbackListPtr;
using internal::CallbackRegistry;
using internal::CallbackThread;
using internal::RegisteredCallback;

bool IsValid(const RecordFunctionCallback& callback) {
  // Written so that NaN is invalid.
  if (callback.sampling_prob() >= 0 && callback.sampling_prob() <= 1) {
    return true;
  }
  Warn("Invalid sampling probability");
  return false;
}

// Replaces the list that has the handle, the thread's or else the global one,
// by `change(list)`.
template <typename Change>
void ChangeCallback(CallbackHandle handle, Change change) {
  CallbackThread* const thread = CallbackThread::Get();
  if (thread != nullptr && internal::HasHandle(thread->own_list(), handle)) {
    thread->SetOwnList(change(thread->own_list()));
  } else if (!CallbackRegistry::Get().Replace(change)) {
    Warn("Requested callback is not found");
  }
}

void SetCallbackEnabled(CallbackHandle handle, bool enabled) {
  ChangeCallback(handle, [=](const CallbackListPtr& list) {
    return internal::WithEnabled(list, handle, enabled);
  });
}

}  // namespace

RecordFunctionCallback& RecordFunctionCallback::scopes(
    std::initializer_list<RecordScope> scopes) {
  scopes_ = scopes.size() == 0 ? ~uint32_t{0} : 0;
  for (const RecordScope scope : scopes) {
    if (scope < RecordScope::kCount) {
      scopes_ |= uint32_t{1} << static_cast<int>(scope);
    }
  }
  return *this;
}

CallbackHandle AddGlobalCallback(RecordFunctionCallback callback) {
  if (!IsValid(callback)) return 0;
  const RegisteredCallback entry = internal::Register(std::move(callback));
  CallbackRegistry::Get().Replace([&](const CallbackListPtr& list) {
    return internal::WithEntry(list, entry);
  });
  return entry.handle;
}

CallbackHandle AddThreadLocalCallback(RecordFunctionCallback callback) {
  CallbackThread* const thread = CallbackThread::Get();
  if (thread == nullptr || !IsValid(callback)) return 0;
  const RegisteredCallback entry = internal::Register(std::move(callback));
  thread->SetOwnList(internal::WithEntry(thread->own_list(), entry));
  return entry.handle;
}

void RemoveCallback(CallbackHandle handle) {
  ChangeCallback(handle, [=](const CallbackListPtr& list) {
    return internal::WithoutHandle(list, handle);
  });
}

void DisableCallback(CallbackHandle handle) {
  SetCallbackEnabled(handle, false);
}

void ReenableCallback(CallbackHandle handle) {
  SetCallbackEnabled(handle, true);
}

void ClearGlobalCallbacks() {
  CallbackRegistry::Get().Replace(
      [](const CallbackListPtr&) { return CallbackListPtr(); });
}

void ClearThreadLocalCallbacks() {
  if (CallbackThread* const thread = CallbackThread::Get()) {
    thread->SetOwnList(nullptr);
  }
}

void ClearCallbacks() {
  ClearGlobalCallbacks();
  ClearThreadLocalCallbacks();
}

bool HasGlobalCallbacks() { return CallbackRegistry::Get().list() != nullptr; }

bool HasThreadLocalCallbacks() {
  const CallbackThread* const thread = CallbackThread::Get();
  return thread != nullptr && thread->own_list() != nullptr;
}

bool HasCallbacks() {
  return HasGlobalCallbacks() || HasThreadLocalCallbacks();
}

void EnableRecordFunction(bool enable) {
  if (CallbackThread* const thread = CallbackThread::Get()) {
    thread->SetEnabled(enable);
  }
}

bool IsRecordFunctionEnabled() {
  const CallbackThread* const thread = CallbackThread::Get();
  return thread == nullptr || thread->enabled();
}

}  // namespace kymo
