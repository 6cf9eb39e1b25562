#include "profiler/analysis/memory/runtime_memory.h"

#include <algorithm>
#include <string_view>

namespace kymo::analysis {
namespace {

constexpr std::string_view kRuntimeFiles[] = {
    "[vdso]",      "ld-linux", "libc++.so", "libc++abi.so", "libc.so",
    "libgcc_s.so", "libm.so",  "libm-",     "libpthread",   "libstdc++.so"};
constexpr std::string_view kRuntimeFunctions[] = {"_IO_file_doallocate",
                                                  "_dl_allocate_tls"};

}  // namespace

bool IsRuntimeFile(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  return std::any_of(
      std::begin(kRuntimeFiles), std::end(kRuntimeFiles),
      [name](std::string_view begin) { return name.starts_with(begin); });
}

bool IsRuntimeMemory(const model::Trace& trace, model::StackId stack) {
  if (stack == model::kEmptyStack) return false;
  bool runtime_alone = true;
  const model::StackTable& stacks = trace.stacks();
  for (; stack != model::kEmptyStack; stack = stacks.parent(stack)) {
    const model::Frame& frame = stacks.frame(stacks.leaf(stack));
    const std::string_view function = trace.Name(frame.function);
    if (std::find(std::begin(kRuntimeFunctions), std::end(kRuntimeFunctions),
                  function) != std::end(kRuntimeFunctions)) {
      return true;
    }
    runtime_alone &= IsRuntimeFile(trace.Name(frame.module));
  }
  return runtime_alone;
}

}  // namespace kymo::analysis
