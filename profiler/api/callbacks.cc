#include "profiler/api/callbacks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "profiler/api/warning.h"
#include "profiler/record/host.h"

namespace kymo {
namespace internal {

struct Registered {
  CallbackHandle handle;
  std::shared_ptr<const RecordFunctionCallback> callback;
  bool enabled;
};
using CallbackList = std::vector<Registered>;

struct ThreadCallbacks {
  std::shared_ptr<const CallbackList> list;  // never null
  bool enabled;
};

// An operation between its start and its end.
struct ObservedCall {
  struct Due {
    std::shared_ptr<const RecordFunctionCallback> callback;
    std::unique_ptr<ObserverContext> context;
  };
  OperationView view;
  std::string name;
  std::vector<Due> due;
};

}  // namespace internal

namespace {

using internal::CallbackList;
using internal::ObservedCall;
using internal::Registered;

std::shared_ptr<const CallbackList> EmptyList() {
  static const auto* const empty =
      new std::shared_ptr<const CallbackList>(new CallbackList);
  return *empty;
}

// --- global state; never destroyed ---

struct Globals {
  std::mutex mutex;
  std::shared_ptr<const CallbackList> list = EmptyList();
  // Changes with `list`, so that threads notice.
  std::atomic<uint64_t> version{1};
  std::atomic<uint64_t> next_handle{1};
  std::atomic<uint64_t> next_operation{1};
  // Callbacks of all kinds; the gate is open while there are some.
  int64_t registered = 0;
};

Globals& GetGlobals() {
  static Globals* const globals = new Globals;
  return *globals;
}

void CountRegistered(int64_t change) {
  Globals& globals = GetGlobals();
  const std::lock_guard lock(globals.mutex);
  globals.registered += change;
  record::SetObserved(globals.registered > 0);
}

std::atomic<int64_t> default_node_id{-1};
constinit thread_local int64_t sequence_number = 0;

// --- a thread's state ---

// A callback with the operations left until it runs next.
struct Sampled {
  std::shared_ptr<const RecordFunctionCallback> callback;
  int64_t countdown;  // 0 = always
};

// The callbacks of one scope.
struct ScopeCallbacks {
  std::vector<Sampled> callbacks;
  // Without one that always runs: operations until the first is due, and how
  // many that were when they were last counted down.
  bool any_always = false;
  int64_t until_due = 0;
  int64_t counted_from = 0;
};

class Thread {
 public:
  ~Thread();

  // Null once the thread is being torn down.
  static Thread* Get();

  const std::shared_ptr<const CallbackList>& list() const { return list_; }
  void SetList(std::shared_ptr<const CallbackList> list) {
    list_ = std::move(list);
    seen_version_ = 0;
  }
  bool enabled() const { return enabled_; }
  void SetEnabled(bool enabled) {
    if (enabled_ != enabled) record::SetThreadPaused(!enabled);
    enabled_ = enabled;
  }
  bool in_callback = false;

  // Those that are due for an operation of this scope.
  std::vector<ObservedCall::Due> TakeDue(RecordScope scope);

 private:
  void Rebuild(uint64_t version);
  void Add(const CallbackList& list);
  int64_t Draw(double probability);
  static void CountFromHere(ScopeCallbacks& scope);

  std::shared_ptr<const CallbackList> list_ = EmptyList();
  bool enabled_ = true;
  uint64_t seen_version_ = 0;
  std::array<ScopeCallbacks, static_cast<size_t>(RecordScope::kCount)> scopes_;
  std::minstd_rand random_{std::random_device{}()};
};

constinit thread_local bool thread_is_gone = false;

Thread::~Thread() {
  thread_is_gone = true;
  if (!list_->empty()) CountRegistered(-static_cast<int64_t>(list_->size()));
}

Thread* Thread::Get() {
  if (thread_is_gone) return nullptr;
  static thread_local Thread thread;
  return &thread;
}

int64_t Thread::Draw(double probability) {
  if (probability >= 1) return 0;
  // Trials up to and with the first success.
  return std::geometric_distribution<int64_t>(probability)(random_) + 1;
}

void Thread::CountFromHere(ScopeCallbacks& scope) {
  scope.until_due = 0;
  scope.any_always = false;
  for (const Sampled& sampled : scope.callbacks) {
    if (sampled.countdown == 0) {
      scope.any_always = true;
    } else if (scope.until_due == 0 || sampled.countdown < scope.until_due) {
      scope.until_due = sampled.countdown;
    }
  }
  scope.counted_from = scope.until_due;
}

void Thread::Add(const CallbackList& list) {
  for (const Registered& registered : list) {
    const RecordFunctionCallback& callback = *registered.callback;
    if (!registered.enabled || callback.sampling_prob() <= 0) continue;
    for (size_t s = 0; s < scopes_.size(); ++s) {
      if (!callback.has_scope(static_cast<RecordScope>(s))) continue;
      scopes_[s].callbacks.push_back(
          {registered.callback, Draw(callback.sampling_prob())});
    }
  }
}

void Thread::Rebuild(uint64_t version) {
  std::shared_ptr<const CallbackList> global;
  {
    Globals& globals = GetGlobals();
    const std::lock_guard lock(globals.mutex);
    global = globals.list;
  }
  for (ScopeCallbacks& scope : scopes_) scope.callbacks.clear();
  Add(*global);
  Add(*list_);
  for (ScopeCallbacks& scope : scopes_) CountFromHere(scope);
  seen_version_ = version;
}

std::vector<ObservedCall::Due> Thread::TakeDue(RecordScope scope_name) {
  const uint64_t version = GetGlobals().version.load(std::memory_order_relaxed);
  if (seen_version_ != version) Rebuild(version);
  ScopeCallbacks& scope = scopes_[static_cast<size_t>(scope_name)];
  std::vector<ObservedCall::Due> due;
  if (scope.callbacks.empty()) return due;
  if (!scope.any_always && --scope.until_due > 0) return due;
  // With one that always runs, every operation is counted by itself.
  const int64_t passed = scope.any_always ? 1 : scope.counted_from;
  for (Sampled& sampled : scope.callbacks) {
    if (sampled.countdown > 0) {
      sampled.countdown -= passed;
      if (sampled.countdown > 0) continue;
      sampled.countdown = Draw(sampled.callback->sampling_prob());
    }
    due.push_back({sampled.callback, nullptr});
  }
  CountFromHere(scope);
  return due;
}

// Marks the thread as being in a callback.
class InCallback {
 public:
  explicit InCallback(Thread* thread) : thread_(thread) {
    if (thread_ == nullptr) return;
    before_ = std::exchange(thread_->in_callback, true);
  }
  ~InCallback() {
    if (thread_ != nullptr) thread_->in_callback = before_;
  }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;

 private:
  Thread* const thread_;
  bool before_ = false;
};

template <typename Call>
void RunGuarded(std::string_view range, Call call) noexcept {
  std::string what;
  try {
    call();
    return;
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    what = "unknown exception";
  }
  Warn("Exception in RecordFunction callback: " + what + " , for the range " +
       std::string(range));
}

// --- changing lists ---

CallbackList With(const CallbackList& list, Registered registered) {
  CallbackList changed = list;
  changed.push_back(std::move(registered));
  return changed;
}

// Applies `change` to the list that has the handle: the thread's, else the
// global one. `change` returns by how many the list has shrunk.
template <typename Change>
void ChangeCallback(CallbackHandle handle, Change change) {
  const auto has = [handle](const CallbackList& list) {
    return std::any_of(list.begin(), list.end(), [handle](const auto& entry) {
      return entry.handle == handle;
    });
  };
  int64_t removed = -1;
  Thread* const thread = Thread::Get();
  if (thread != nullptr && has(*thread->list())) {
    CallbackList list = *thread->list();
    removed = change(list);
    thread->SetList(std::make_shared<const CallbackList>(std::move(list)));
  } else {
    Globals& globals = GetGlobals();
    const std::lock_guard lock(globals.mutex);
    if (has(*globals.list)) {
      CallbackList list = *globals.list;
      removed = change(list);
      globals.list = std::make_shared<const CallbackList>(std::move(list));
      globals.version.fetch_add(1, std::memory_order_relaxed);
    }
  }
  if (removed < 0) {
    Warn("Requested callback is not found");
  } else if (removed > 0) {
    CountRegistered(-removed);
  }
}

void SetCallbackEnabled(CallbackHandle handle, bool enabled) {
  ChangeCallback(handle, [=](CallbackList& list) -> int64_t {
    for (Registered& entry : list) {
      if (entry.handle == handle) entry.enabled = enabled;
    }
    return 0;
  });
}

bool IsValid(const RecordFunctionCallback& callback) {
  if (callback.sampling_prob() >= 0 && callback.sampling_prob() <= 1) {
    return true;
  }
  Warn("Invalid sampling probability");
  return false;
}

Registered Register(RecordFunctionCallback callback) {
  return {GetGlobals().next_handle.fetch_add(1, std::memory_order_relaxed),
          std::make_shared<const RecordFunctionCallback>(std::move(callback)),
          true};
}

}  // namespace

RecordFunctionCallback& RecordFunctionCallback::scopes(
    std::initializer_list<RecordScope> scopes) {
  scopes_ = scopes.size() == 0 ? ~uint32_t{0} : 0;
  for (const RecordScope scope : scopes) {
    scopes_ |= uint32_t{1} << static_cast<int>(scope);
  }
  return *this;
}

CallbackHandle AddGlobalCallback(RecordFunctionCallback callback) {
  if (!IsValid(callback)) return 0;
  Registered registered = Register(std::move(callback));
  const CallbackHandle handle = registered.handle;
  {
    Globals& globals = GetGlobals();
    const std::lock_guard lock(globals.mutex);
    globals.list = std::make_shared<const CallbackList>(
        With(*globals.list, std::move(registered)));
    globals.version.fetch_add(1, std::memory_order_relaxed);
  }
  CountRegistered(1);
  return handle;
}

CallbackHandle AddThreadLocalCallback(RecordFunctionCallback callback) {
  Thread* const thread = Thread::Get();
  if (thread == nullptr || !IsValid(callback)) return 0;
  Registered registered = Register(std::move(callback));
  const CallbackHandle handle = registered.handle;
  thread->SetList(std::make_shared<const CallbackList>(
      With(*thread->list(), std::move(registered))));
  CountRegistered(1);
  return handle;
}

void RemoveCallback(CallbackHandle handle) {
  ChangeCallback(handle, [=](CallbackList& list) {
    return static_cast<int64_t>(std::erase_if(
        list, [=](const Registered& entry) { return entry.handle == handle; }));
  });
}

void DisableCallback(CallbackHandle handle) {
  SetCallbackEnabled(handle, false);
}

void ReenableCallback(CallbackHandle handle) {
  SetCallbackEnabled(handle, true);
}

void ClearGlobalCallbacks() {
  int64_t removed = 0;
  {
    Globals& globals = GetGlobals();
    const std::lock_guard lock(globals.mutex);
    removed = static_cast<int64_t>(globals.list->size());
    globals.list = EmptyList();
    globals.version.fetch_add(1, std::memory_order_relaxed);
  }
  CountRegistered(-removed);
}

void ClearThreadLocalCallbacks() {
  Thread* const thread = Thread::Get();
  if (thread == nullptr) return;
  const int64_t removed = static_cast<int64_t>(thread->list()->size());
  thread->SetList(EmptyList());
  CountRegistered(-removed);
}

void ClearCallbacks() {
  ClearGlobalCallbacks();
  ClearThreadLocalCallbacks();
}

bool HasGlobalCallbacks() {
  Globals& globals = GetGlobals();
  const std::lock_guard lock(globals.mutex);
  return !globals.list->empty();
}

bool HasThreadLocalCallbacks() {
  const Thread* const thread = Thread::Get();
  return thread != nullptr && !thread->list()->empty();
}

bool HasCallbacks() {
  return HasGlobalCallbacks() || HasThreadLocalCallbacks();
}

void EnableRecordFunction(bool enable) {
  if (Thread* const thread = Thread::Get()) thread->SetEnabled(enable);
}

bool IsRecordFunctionEnabled() {
  const Thread* const thread = Thread::Get();
  return thread == nullptr || thread->enabled();
}

void SetDefaultNodeId(int64_t node_id) {
  if (node_id < 0) {
    Warn("setDefaultNodeId expects an id >= 0.");
    return;
  }
  default_node_id.store(node_id, std::memory_order_relaxed);
}

int64_t DefaultNodeId() noexcept {
  return default_node_id.load(std::memory_order_relaxed);
}

int64_t PeekSequenceNumber() noexcept { return sequence_number; }
int64_t GetAndIncrementSequenceNumber() noexcept { return sequence_number++; }

namespace internal {

ObservedCall* StartObserved(OperationView op) noexcept {
  Thread* const thread = Thread::Get();
  if (thread == nullptr || !thread->enabled() || thread->in_callback) {
    return nullptr;
  }
  std::vector<ObservedCall::Due> due = thread->TakeDue(op.scope);
  if (due.empty()) return nullptr;
  auto* const call = new ObservedCall{op, std::string(op.name), std::move(due)};
  call->view.name = call->name;
  call->view.thread_id = record::LogicalThreadId();
  bool inputs = false;
  bool ids = false;
  for (const ObservedCall::Due& entry : call->due) {
    inputs |= entry.callback->needs_inputs();
    ids |= entry.callback->needs_ids();
  }
  if (ids) {
    call->view.handle =
        GetGlobals().next_operation.fetch_add(1, std::memory_order_relaxed);
  }
  if (!inputs) call->view.inputs = {}, call->view.kwinputs = {};
  const InCallback in_callback(thread);
  for (ObservedCall::Due& entry : call->due) {
    if (!entry.callback->start()) continue;
    RunGuarded(call->name,
               [&] { entry.context = entry.callback->start()(call->view); });
  }
  call->view.inputs = {};
  call->view.kwinputs = {};
  return call;
}

void EndObserved(ObservedCall* call, std::span<const Input> outputs) noexcept {
  const std::unique_ptr<ObservedCall> owned(call);
  const InCallback in_callback(Thread::Get());
  for (ObservedCall::Due& entry : call->due) {
    call->view.outputs =
        entry.callback->needs_outputs() ? outputs : std::span<const Input>();
    if (entry.callback->end()) {
      RunGuarded(call->name, [&] {
        entry.callback->end()(call->view, entry.context.get());
      });
    }
    entry.context.reset();
  }
}

std::shared_ptr<const ThreadCallbacks> CaptureThreadCallbacks() {
  const Thread* const thread = Thread::Get();
  if (thread == nullptr || (thread->list()->empty() && thread->enabled())) {
    return nullptr;
  }
  return std::make_shared<const ThreadCallbacks>(
      ThreadCallbacks{thread->list(), thread->enabled()});
}

std::shared_ptr<const ThreadCallbacks> ExchangeThreadCallbacks(
    std::shared_ptr<const ThreadCallbacks> callbacks) {
  std::shared_ptr<const ThreadCallbacks> before = CaptureThreadCallbacks();
  Thread* const thread = Thread::Get();
  if (thread == nullptr || (before == nullptr && callbacks == nullptr)) {
    return before;
  }
  // Lent callbacks count as the thread's own as long as it has them.
  CountRegistered(
      (callbacks ? static_cast<int64_t>(callbacks->list->size()) : 0) -
      static_cast<int64_t>(thread->list()->size()));
  thread->SetList(callbacks ? callbacks->list : EmptyList());
  thread->SetEnabled(!callbacks || callbacks->enabled);
  return before;
}

}  // namespace internal
}  // namespace kymo
