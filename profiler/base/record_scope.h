// record_scope.h - PyTorch's RecordScope, with its numbers.
#ifndef KYMO_PROFILER_BASE_RECORD_SCOPE_H_
#define KYMO_PROFILER_BASE_RECORD_SCOPE_H_

#include <cstdint>

namespace kymo {

// What kind of code a range stands for (ATen's RecordScope).
enum class RecordScope : uint8_t {
  kFunction = 0,
  kBackwardFunction = 1,
  kTorchscriptFunction = 2,
  kKernelFunctionDtype = 3,
  kCustomClass = 4,
  kBuildFeature = 5,
  kLiteInterpreter = 6,
  kUserScope = 7,  // a range of the user's own: `user_annotation` in traces
  kStaticRuntimeOp = 8,
  kStaticRuntimeModel = 9,
  kCount,
};

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_RECORD_SCOPE_H_
