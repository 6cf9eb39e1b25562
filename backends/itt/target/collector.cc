// collector.cc - our functions in the tables of a program's ITT.
//
// tasks.h, ranges_by_id.h, metadata.h and counters.h say what each function
// does. If another tool was configured, it makes the program's domains and
// strings, and gets every call (functions.h).
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "backends/itt/target/counters.h"
#include "backends/itt/target/functions.h"
#include "backends/itt/target/itt_abi.h"
#include "backends/itt/target/metadata.h"
#include "backends/itt/target/names.h"
#include "backends/itt/target/ranges_by_id.h"
#include "backends/itt/target/tasks.h"
#include "profiler/record/host/host.h"

namespace kymo::itt {
namespace {

void ThreadSetName(const char* name) noexcept {
  if (name != nullptr) {
    record::Host().name_thread(static_cast<int32_t>(syscall(SYS_gettid)), name,
                               strlen(name));
  }
  TellNext(kThreadSetName, name);
}

uint64_t GetTimestamp() noexcept {
  const record::Arena* const arena = record::Host().arena();
  return CallNext(kGetTimestamp,
                  arena == nullptr ? 0 : ReadTicks(arena->clock_source()));
}

template <typename F>
void* Address(F* function) noexcept {
  return reinterpret_cast<void*>(function);
}

// A switch, because initialising a static table at run time would need the C++
// library.
void* FunctionOf(FunctionIndex index) noexcept {
  switch (index) {
    case kDomainCreate:
      return Address(DomainCreate);
    case kStringHandleCreate:
      return Address(StringHandleCreate);
    case kTaskBegin:
      return Address(TaskBegin);
    case kTaskBeginFn:
      return Address(TaskBeginFn);
    case kTaskEnd:
      return Address(TaskEnd);
    case kTaskBeginOverlapped:
      return Address(TaskBeginOverlapped);
    case kTaskEndOverlapped:
      return Address(TaskEndOverlapped);
    case kRegionBegin:
      return Address(RegionBegin);
    case kRegionEnd:
      return Address(RegionEnd);
    case kFrameBegin:
      return Address(FrameBegin);
    case kFrameEnd:
      return Address(FrameEnd);
    case kMarker:
      return Address(Marker);
    case kMetadataAdd:
      return Address(MetadataAdd);
    case kMetadataStrAdd:
      return Address(MetadataStrAdd);
    case kCounterCreate:
      return Address(CounterCreate);
    case kCounterCreateTyped:
      return Address(CounterCreateTyped);
    case kCounterSetValue:
      return Address(CounterSetValue);
    case kCounterInc:
      return Address(CounterInc);
    case kCounterIncDelta:
      return Address(CounterIncDelta);
    case kCounterDec:
      return Address(CounterDec);
    case kCounterDecDelta:
      return Address(CounterDecDelta);
    case kCounterIncV3:
      return Address(CounterIncV3);
    case kCounterIncDeltaV3:
      return Address(CounterIncDeltaV3);
    case kCounterDecV3:
      return Address(CounterDecV3);
    case kCounterDecDeltaV3:
      return Address(CounterDecDeltaV3);
    case kThreadSetName:
      return Address(ThreadSetName);
    case kStackCallerCreate:
      return Address(StackCallerCreate);
    case kStackCalleeEnter:
      return Address(StackCalleeEnter);
    case kStackCalleeLeave:
      return Address(StackCalleeLeave);
    case kGetTimestamp:
      return Address(GetTimestamp);
    case kFunctionCount:
      break;
  }
  return nullptr;
}

// The thread that is attaching; 0: none. If the tool behind us uses ITT itself,
// the same thread gets here again.
constinit std::atomic<int64_t> attaching{0};

void SwitchOff(Global* global) noexcept {
  for (const ApiEntry* entry = global->api_list; entry->name != nullptr;
       ++entry) {
    *entry->function = entry->null_function;
  }
}

void Attach(Global* global, int groups) noexcept {
  const int64_t self = syscall(SYS_gettid);
  // What a tool says of itself is nobody's.
  if (attaching.load(std::memory_order_relaxed) == self) {
    return SwitchOff(global);
  }
  int64_t nobody = 0;
  while (!attaching.compare_exchange_weak(nobody, self,
                                          std::memory_order_acquire)) {
    nobody = 0;
    sched_yield();
  }
  record::Host();
  SwitchOff(global);
  AttachNext(global, groups);
  for (const ApiEntry* entry = global->api_list; entry->name != nullptr;
       ++entry) {
    void* const function = FunctionOf(FindFunction(entry->name));
    if (function != nullptr) *entry->function = function;
  }
  attaching.store(0, std::memory_order_release);
}

}  // namespace
}  // namespace kymo::itt

#define KYMO_EXPORT extern "C" __attribute__((visibility("default")))

KYMO_EXPORT void __itt_api_init(kymo::itt::Global* global, int groups) {
  if (global != nullptr && global->api_list != nullptr) {
    kymo::itt::Attach(global, groups);
  }
}
