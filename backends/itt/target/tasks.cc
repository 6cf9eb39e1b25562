#include "backends/itt/target/tasks.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "backends/itt/target/functions.h"
#include "backends/itt/target/names.h"
#include "profiler/record/captured.h"
#include "profiler/record/captured_stack.h"

namespace kymo::itt {
namespace {

// A domain of its own for ranges of work that is done for others.
constexpr char kCallees = 0;

// `name()` is called only if we are capturing.
template <typename MakeName>
void Push(const Domain* domain, MakeName name) noexcept {
  record::PushCaptured(domain, [&](record::OpenRange& range) {
    if (IsCapturing()) record::BeginCaptured(range, In(domain, name()));
  });
}

void Pop(const void* stack) noexcept {
  record::OpenRange range;
  if (record::PopCaptured(stack, &range) < 0) {
    if (IsCapturing()) record::CountEndWithoutBegin();
    return;
  }
  record::EndRange(range);
}

}  // namespace

void TaskBegin(const Domain* domain, Id id, Id parent,
               StringHandle* name) noexcept {
  Push(domain, [name] { return NameOf(name); });
  TellNext(kTaskBegin, domain, id, parent, name);
}

void TaskBeginFn(const Domain* domain, Id id, Id parent,
                 void (*function)()) noexcept {
  Push(domain, [function] {
    Dl_info info = {};
    const int found = dladdr(reinterpret_cast<const void*>(function), &info);
    return record::NameOf(found != 0 ? info.dli_sname : nullptr);
  });
  TellNext(kTaskBeginFn, domain, id, parent, function);
}

void TaskEnd(const Domain* domain) noexcept {
  Pop(domain);
  TellNext(kTaskEnd, domain);
}

void* StackCallerCreate() noexcept {
  static constinit std::atomic<uint64_t> callers{1};
  const uint64_t ours = callers.fetch_add(1, std::memory_order_relaxed);
  return CallNext(kStackCallerCreate, reinterpret_cast<void*>(ours));
}

void StackCalleeEnter(void* caller) noexcept {
  record::PushCaptured(&kCallees, [caller](record::OpenRange& range) {
    if (!IsCapturing()) return;
    const record::CapturedArg arg = {
        .key = IdOf("caller"),
        .kind = record::PayloadKind::kInt,
        .bits = reinterpret_cast<uint64_t>(caller)};
    record::Captured what = In(nullptr, record::NameOf("task"));
    what.args = &arg;
    what.arg_count = 1;
    record::BeginCaptured(range, what);
  });
  TellNext(kStackCalleeEnter, caller);
}

void StackCalleeLeave(void* caller) noexcept {
  Pop(&kCallees);
  TellNext(kStackCalleeLeave, caller);
}

}  // namespace kymo::itt
