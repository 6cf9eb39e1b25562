// next_tool.h - the injection library that was configured before ours.
//
//   LoadNextTool();                         // once; what KYMO_NVTX_NEXT names
//   AttachNextTool(get_export_table);       // for each copy of NVTX
//   ...
//   if (has_next_tool) level = CallNext(next_tool.core[kRangePushA], level,
//                                       message);
//
// It is initialised as it would be by the program, with a table of functions of
// ours to fill in: so it gets every call after or before us. What we have no
// interest in (OpenCL, synchronisation, memory) it attaches to by itself.
//
// Handles that it gives are passed on to the program, which hands them back;
// ours are found by theirs (HandleMap). So everything that the program passes
// is right for it as it is, also within payloads.
//
// Threads: loading and attaching under one lock; the rest any.
#ifndef KYMO_BACKENDS_NVTX_TARGET_NEXT_TOOL_H_
#define KYMO_BACKENDS_NVTX_TARGET_NEXT_TOOL_H_

#include <cstdint>

#include "backends/nvtx/target/nvtx_abi.h"
#include "profiler/record/handle_map.h"

namespace kymo::nvtx {

struct NextTool {
  static constexpr size_t kSlots = 64;

  FunctionPointer core[kCoreSize];
  FunctionPointer core2[kCore2Size];
  FunctionPointer cuda[kCudaSize];
  FunctionPointer cuda_runtime[kCudaRuntimeSize];
  intptr_t payload[kSlots];
  intptr_t counter[kSlots];
};
extern constinit NextTool next_tool;
// Set before any function of ours can be called that asks for it.
extern constinit bool has_next_tool;

void LoadNextTool() noexcept;
void AttachNextTool(GetExportTable get_export_table) noexcept;
// False: there is none, or it does not want it.
bool AttachNextExtension(ExtensionModule* module) noexcept;

// Its function, if it has one; else `otherwise`.
template <typename R, typename... A>
R CallNext(FunctionPointer function, R otherwise, A... arguments) noexcept {
  if (function == nullptr) return otherwise;
  return reinterpret_cast<R (*)(A...)>(function)(arguments...);
}
template <typename... A>
void TellNext(FunctionPointer function, A... arguments) noexcept {
  if (function != nullptr) {
    reinterpret_cast<void (*)(A...)>(function)(arguments...);
  }
}
inline FunctionPointer FromSlot(intptr_t slot) noexcept {
  return reinterpret_cast<FunctionPointer>(slot);
}

// Its handles of strings, to record::ForeignText.
extern constinit record::HandleMap others_strings;
// Its ids of ranges, to ours.
extern constinit record::HandleMap others_ranges;

}  // namespace kymo::nvtx

#endif  // KYMO_BACKENDS_NVTX_TARGET_NEXT_TOOL_H_
