// functions.h - the functions of ITT that Kymo knows, and the tool behind it.
//
//   TellNext(kTaskEnd, domain);            // does nothing without a tool
//   CallNext(kDomainCreate, otherwise, name)
//
// If another tool was configured before us, it fills in the program's table
// first. Where we then replace its functions, we pass every call on to them.
//
// Threads: any, after AttachNext. Errors: a tool that cannot be loaded is
//   ignored.
#ifndef KYMO_BACKENDS_ITT_TARGET_FUNCTIONS_H_
#define KYMO_BACKENDS_ITT_TARGET_FUNCTIONS_H_

#include "backends/itt/target/itt_abi.h"

namespace kymo::itt {

// In the order of kNames.
enum FunctionIndex : int {
  kDomainCreate,
  kStringHandleCreate,
  kTaskBegin,
  kTaskBeginFn,
  kTaskEnd,
  kTaskBeginOverlapped,
  kTaskEndOverlapped,
  kRegionBegin,
  kRegionEnd,
  kFrameBegin,
  kFrameEnd,
  kMarker,
  kMetadataAdd,
  kMetadataStrAdd,
  kCounterCreate,
  kCounterCreateTyped,
  kCounterSetValue,
  kCounterInc,
  kCounterIncDelta,
  kCounterDec,
  kCounterDecDelta,
  kCounterIncV3,
  kCounterIncDeltaV3,
  kCounterDecV3,
  kCounterDecDeltaV3,
  kThreadSetName,
  kStackCallerCreate,
  kStackCalleeEnter,
  kStackCalleeLeave,
  kGetTimestamp,
  kFunctionCount,
};

// Finds the function of an entry's name, "__itt_task_begin" or "task_begin".
// kFunctionCount if Kymo does not know it.
FunctionIndex FindFunction(const char* name) noexcept;

// By FunctionIndex. Null: there is no other tool, or it has no such function.
extern constinit void* next_functions[kFunctionCount];

template <typename R, typename... A>
R CallNext(FunctionIndex function, R otherwise, A... arguments) noexcept {
  void* const next = next_functions[function];
  if (next == nullptr) return otherwise;
  return reinterpret_cast<R (*)(A...)>(next)(arguments...);
}
template <typename... A>
void TellNext(FunctionIndex function, A... arguments) noexcept {
  void* const next = next_functions[function];
  if (next != nullptr) reinterpret_cast<void (*)(A...)>(next)(arguments...);
}

// Lets the other tool fill in the program's table, and remembers its functions
// where ours will replace them. Must not run concurrently.
void AttachNext(Global* global, int groups) noexcept;

}  // namespace kymo::itt

#endif  // KYMO_BACKENDS_ITT_TARGET_FUNCTIONS_H_
