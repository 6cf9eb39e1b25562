#include "profiler/callbacks/observed_call.h"

#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "kymo/warning.h"
#include "profiler/callbacks/callback_thread.h"
#include "profiler/record/host/host.h"

namespace kymo::internal {

// Between its start and its end.
struct ObservedCall {
  OperationView view;
  std::string name;  // of `view`; a dynamic one is gone before the end
  DueCallbacks due;
  bool needs_outputs = false;
};

struct ThreadCallbacks {
  CallbackListPtr list;
  bool enabled;
};

namespace {

constinit std::atomic<uint64_t> next_operation{1};

class InCallback {
 public:
  explicit InCallback(CallbackThread* thread) noexcept
      : thread_(thread),
        before_(thread != nullptr && thread->ExchangeInCallback(true)) {}
  ~InCallback() {
    if (thread_ != nullptr) thread_->ExchangeInCallback(before_);
  }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;

 private:
  CallbackThread* const thread_;
  const bool before_;
};

void WarnOfException(const char* what, const std::string& range) noexcept {
  try {
    Warn(std::string("Exception in RecordFunction callback: ") + what +
         " , for the range " + range);
  } catch (const std::bad_alloc&) {
    Warn("Exception in RecordFunction callback");
  }
}

// Runs a part of a callback, whose exceptions end here.
template <typename Part>
void RunGuarded(const std::string& range, Part part) noexcept {
  try {
    part();
  } catch (const std::exception& e) {
    WarnOfException(e.what(), range);
  } catch (...) {
    WarnOfException("unknown", range);
  }
}

std::unique_ptr<ObservedCall> MakeCall(CallbackThread& thread,
                                       const OperationView& op) {
  // First, so that the countdowns are right whatever happens then.
  DueCallbacks taken = thread.TakeDue(op.scope);
  auto call = std::make_unique<ObservedCall>();
  call->name = op.name;
  call->due = std::move(taken);
  bool needs_inputs = false;
  bool needs_ids = false;
  for (const DueCallback& due : call->due.callbacks) {
    needs_inputs |= due.callback->needs_inputs();
    needs_ids |= due.callback->needs_ids();
    call->needs_outputs |= due.callback->needs_outputs();
  }
  call->view = op;
  call->view.name = call->name;
  call->view.thread_id = record::LogicalThreadId();
  if (needs_ids) {
    call->view.handle = next_operation.fetch_add(1, std::memory_order_relaxed);
  }
  if (!needs_inputs) {
    call->view.inputs = {};
    call->view.kwinputs = {};
  }
  return call;
}

}  // namespace

bool IsObservationDue(RecordScope scope) noexcept {
  CallbackThread* const thread = CallbackThread::Get();
  return thread != nullptr && thread->IsDue(scope);
}

ObservedCall* StartObserved(const OperationView& op) noexcept {
  CallbackThread* const thread = CallbackThread::Get();
  std::unique_ptr<ObservedCall> call;
  try {
    call = MakeCall(*thread, op);
  } catch (const std::bad_alloc&) {
    return nullptr;  // the program's memory is short; the operation runs
  }
  const InCallback in_callback(thread);
  for (DueCallback& due : call->due.callbacks) {
    if (!due.callback->start()) continue;
    RunGuarded(call->name,
               [&] { due.context = due.callback->start()(call->view); });
  }
  call->view.inputs = {};
  call->view.kwinputs = {};
  return call.release();
}

void EndObserved(ObservedCall* call, std::span<const Input> outputs) noexcept {
  const std::unique_ptr<ObservedCall> owned(call);
  const InCallback in_callback(CallbackThread::Get());
  if (call->needs_outputs) call->view.outputs = outputs;
  for (DueCallback& due : call->due.callbacks) {
    if (due.callback->end()) {
      RunGuarded(call->name,
                 [&] { due.callback->end()(call->view, due.context.get()); });
    }
    due.context.reset();
  }
}

std::shared_ptr<const ThreadCallbacks> CaptureThreadCallbacks() {
  const CallbackThread* const thread = CallbackThread::Get();
  if (thread == nullptr ||
      (thread->own_list() == nullptr && thread->enabled())) {
    return nullptr;
  }
  return std::make_shared<const ThreadCallbacks>(
      ThreadCallbacks{thread->own_list(), thread->enabled()});
}

std::shared_ptr<const ThreadCallbacks> ExchangeThreadCallbacks(
    std::shared_ptr<const ThreadCallbacks> callbacks) {
  std::shared_ptr<const ThreadCallbacks> before = CaptureThreadCallbacks();
  CallbackThread* const thread = CallbackThread::Get();
  if (thread == nullptr || (before == nullptr && callbacks == nullptr)) {
    return before;
  }
  thread->SetOwnList(callbacks == nullptr ? nullptr : callbacks->list);
  thread->SetEnabled(callbacks == nullptr || callbacks->enabled);
  return before;
}

}  // namespace kymo::internal
