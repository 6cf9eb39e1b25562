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

// Of a stack: all of its frames are in runtime files; one is such a function.
constexpr uint8_t kFilesAlone = 1;
constexpr uint8_t kFunction = 2;

}  // namespace

bool IsRuntimeFile(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  return std::any_of(
      std::begin(kRuntimeFiles), std::end(kRuntimeFiles),
      [name](std::string_view begin) { return name.starts_with(begin); });
}

void RuntimeMemory::LookAtAll() {
  const model::StackTable& stacks = trace_.stacks();
  std::vector<uint8_t> of_frame(stacks.frame_count());
  for (uint32_t f = 0; f < of_frame.size(); ++f) {
    const model::Frame& frame = stacks.frame(model::FrameId{f});
    const std::string_view function = trace_.Name(frame.function);
    if (IsRuntimeFile(trace_.Name(frame.module))) of_frame[f] |= kFilesAlone;
    if (std::find(std::begin(kRuntimeFunctions), std::end(kRuntimeFunctions),
                  function) != std::end(kRuntimeFunctions)) {
      of_frame[f] |= kFunction;
    }
  }
  of_stack_.resize(stacks.stack_count());
  of_stack_[0] = kFilesAlone;
  // Parents come before their children.
  for (uint32_t s = 1; s < of_stack_.size(); ++s) {
    const model::StackId id{s};
    const uint8_t outer = of_stack_[Index(stacks.parent(id))];
    const uint8_t own = of_frame[Index(stacks.leaf(id))];
    of_stack_[s] = static_cast<uint8_t>((outer & own & kFilesAlone) |
                                        ((outer | own) & kFunction));
  }
}

bool RuntimeMemory::Has(model::StackId stack) {
  if (stack == model::kEmptyStack) return false;
  if (of_stack_.empty()) LookAtAll();
  return of_stack_[Index(stack)] != 0;
}

}  // namespace kymo::analysis
