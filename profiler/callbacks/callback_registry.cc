#include "profiler/callbacks/callback_registry.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "profiler/record/host/host.h"

namespace kymo::internal {
namespace {

constinit std::atomic<CallbackHandle> next_handle{1};

// Without a destructor, and ready before any constructor of the program runs.
union RegistryStorage {
  constexpr RegistryStorage() noexcept : registry() {}
  ~RegistryStorage() {}
  CallbackRegistry registry;
};
constinit RegistryStorage storage;

// They name this copy's registry. Get() may be another copy's: a library that
// holds Kymo gets it from a program that exports its names (-rdynamic). Then
// both would lock the program's registry.
[[maybe_unused]] const int fork_handlers = pthread_atfork(
    [] { storage.registry.BeforeFork(); }, [] { storage.registry.AfterFork(); },
    [] { storage.registry.AfterFork(); });

CallbackListPtr MakeList(CallbackList list) {
  if (list.empty()) return nullptr;
  return std::make_shared<const CallbackList>(std::move(list));
}

CallbackList CopyOf(const CallbackListPtr& list) {
  return list == nullptr ? CallbackList() : *list;
}

}  // namespace

bool HasHandle(const CallbackListPtr& list, CallbackHandle handle) noexcept {
  return list != nullptr && std::ranges::any_of(*list, [=](const auto& entry) {
           return entry.handle == handle;
         });
}

RegisteredCallback Register(RecordFunctionCallback callback) {
  return {.handle = next_handle.fetch_add(1, std::memory_order_relaxed),
          .callback = std::make_shared<const RecordFunctionCallback>(
              std::move(callback))};
}

CallbackListPtr WithEntry(const CallbackListPtr& list,
                          const RegisteredCallback& entry) {
  CallbackList changed = CopyOf(list);
  changed.push_back(entry);
  return MakeList(std::move(changed));
}

CallbackListPtr WithoutHandle(const CallbackListPtr& list,
                              CallbackHandle handle) {
  if (!HasHandle(list, handle)) return list;
  CallbackList changed = CopyOf(list);
  std::erase_if(changed,
                [=](const auto& entry) { return entry.handle == handle; });
  return MakeList(std::move(changed));
}

CallbackListPtr WithEnabled(const CallbackListPtr& list, CallbackHandle handle,
                            bool enabled) {
  if (!HasHandle(list, handle)) return list;
  CallbackList changed = CopyOf(list);
  for (RegisteredCallback& entry : changed) {
    if (entry.handle == handle) entry.enabled = enabled;
  }
  return MakeList(std::move(changed));
}

CallbackRegistry& CallbackRegistry::Get() noexcept { return storage.registry; }

CallbackListPtr CallbackRegistry::list() noexcept {
  const std::lock_guard lock(mutex_);
  return list_;
}

void CallbackRegistry::CountThreadCallbacks(int64_t added) noexcept {
  if (added == 0) return;
  const std::lock_guard lock(mutex_);
  AddToCount(added);
}

void CallbackRegistry::AddToCount(int64_t added) noexcept {
  callbacks_ += added;
  record::SetObserved(callbacks_ > 0);
}

}  // namespace kymo::internal
