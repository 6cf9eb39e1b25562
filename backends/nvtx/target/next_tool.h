// next_tool.h - the NVTX tool that was configured before ours, which we serve
// too.
//
//   LoadNextTool();                         // once; the one in KYMO_NVTX_NEXT
//   AttachNextTool(get_export_table);       // for each copy of NVTX
//   ...
//   if (has_next_tool) level = CallNext(next_tool.core[kRangePushA], level,
//                                       message);
//
// We initialise the tool as the program would, but with a table of ours to fill
// in. So it gets every call, before or after us. It attaches by itself to the
// functions that we do not need (OpenCL, synchronisation, memory).
//
// The program gets the tool's handles and gives them back. We find ours by
// theirs (HandleMap). So everything that the program passes is right for the
// tool as it is, also within payloads.
//
// Threads: loading and attaching need one lock; everything else may run on any
//   thread.
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
// Set before the program can call any function of ours that reads it.
extern constinit bool has_next_tool;

void LoadNextTool() noexcept;
void AttachNextTool(GetExportTable get_export_table) noexcept;
// False if there is no such tool, or if it does not want the extension.
bool AttachNextExtension(ExtensionModule* module) noexcept;

// Calls the tool's function; returns `otherwise` if it has none.
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

// From the tool's handles of strings to record::ForeignText.
extern constinit record::HandleMap others_strings;
// From the tool's ids of ranges to ours.
extern constinit record::HandleMap others_ranges;

}  // namespace kymo::nvtx

#endif  // KYMO_BACKENDS_NVTX_TARGET_NEXT_TOOL_H_
