#include "profiler/symbolize/jit/early_ends.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"

namespace kymo::symbolize {
namespace {

// Fewer change no share that anybody looks at.
constexpr uint64_t kLeastStacks = 100;
constexpr uint64_t kLeastPart = 20;

// [unknown] is outside of all that the program has mapped.
bool IsMade(const ElfModule& module) {
  return module.is_memory() && module.path() != "[unknown]";
}

std::string_view WhatHelps(const ElfModule& module, std::string_view program) {
  if (module.is_386()) return "build it for 64 bits: others have no callers";
  if (module.is_other_format()) {
    return "Kymo cannot read the code of this file";
  }
  if (module.path() == "[unknown]") return "nobody knows what that code is";
  if (!IsMade(module)) {
    return "if you build it, do so with -fasynchronous-unwind-tables or "
           "-fno-omit-frame-pointer";
  }
  if (program.starts_with("java")) {
    return "run java with -XX:+PreserveFramePointer";
  }
  return "Kymo finds callers of code that is made at run time by frame "
         "pointers, which this code does not keep";
}

}  // namespace

void EarlyEnds::Add(int64_t pid, const ElfModule& module) {
  ++counts_[{IsMade(module) ? pid : 0, &module}];
  ++all_;
}

std::string EarlyEnds::Remark(
    uint64_t stacks,
    const std::function<std::string(int64_t pid)>& name_of) const {
  if (all_ < std::max(kLeastStacks, stacks / kLeastPart)) return "";
  const auto& [where, count] = *std::ranges::max_element(
      counts_, {}, [](const auto& entry) { return entry.second; });
  const auto& [pid, module] = where;
  const std::string program = IsMade(*module) ? name_of(pid) : "";
  const std::string code = IsMade(*module)
                               ? absl::StrCat("code that ", program, " (", pid,
                                              ") made while it ran")
                               : std::string(module->short_name());
  return absl::StrCat(all_, " of ", stacks, " stacks end early, ", count,
                      " of them in ", code, ": ",
                      ToAbsl(WhatHelps(*module, program)));
}

}  // namespace kymo::symbolize
