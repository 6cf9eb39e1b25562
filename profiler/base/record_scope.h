// record_scope.h - what kind of code a range stands for, as PyTorch counts it.
//
//   const kymo::RecordScope scope = kymo::RecordScope::kBackwardFunction;
//   Print(static_cast<int>(scope));   // 1
//
// Names and numbers are those of ATen's RecordScope. Records and traces hold
// the numbers, so they never change.
#ifndef KYMO_PROFILER_BASE_RECORD_SCOPE_H_
#define KYMO_PROFILER_BASE_RECORD_SCOPE_H_

#include <cstdint>

namespace kymo {

enum class RecordScope : uint8_t {
  kFunction = 0,
  kBackwardFunction = 1,
  kTorchscriptFunction = 2,
  kKernelFunctionDtype = 3,
  kCustomClass = 4,
  kBuildFeature = 5,
  kLiteInterpreter = 6,
  kUserScope = 7,  // a range of the user's own; `user_annotation` in traces
  kStaticRuntimeOp = 8,
  kStaticRuntimeModel = 9,
  kCount,
};

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_RECORD_SCOPE_H_
