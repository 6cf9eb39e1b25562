#include "profiler/report/allocation_stack.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"

namespace kymo::report {
namespace {

std::string FrameLine(const model::Trace& trace, const model::Frame& frame) {
  const std::string_view function = trace.Name(frame.function);
  std::string line(function.empty() ? "[unknown]" : function);
  if (frame.file != model::kEmptyName) {
    absl::StrAppend(&line, "  ", ToAbsl(trace.Name(frame.file)));
    if (frame.line != 0) absl::StrAppend(&line, ":", frame.line);
  } else if (frame.module != model::kEmptyName) {
    absl::StrAppend(&line, "  ", ToAbsl(trace.Name(frame.module)));
  }
  return line;
}

}  // namespace

std::vector<std::string> AllocationStack(const model::Trace& trace,
                                         analysis::AllocationFrames& frames,
                                         model::StackId stack, size_t limit) {
  const model::StackTable& stacks = trace.stacks();
  model::StackId at = frames.OwnCaller(stack);
  std::vector<std::string> lines;
  for (; lines.size() < limit && at != model::kEmptyStack;
       at = stacks.parent(at)) {
    lines.push_back(FrameLine(trace, stacks.frame(stacks.leaf(at))));
  }
  return lines;
}

}  // namespace kymo::report
