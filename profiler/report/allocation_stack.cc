#include "profiler/report/allocation_stack.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"

namespace kymo::report {
namespace {

constexpr std::string_view kCFunctions[] = {
    "aligned_alloc", "calloc",  "malloc",       "memalign",
    "mmap",          "mmap64",  "mremap",       "posix_memalign",
    "pvalloc",       "realloc", "reallocarray", "valloc"};

// Functions that the standard library's containers call on the way to operator
// new.
constexpr std::string_view kLibraryFunctions[] = {
    "__allocate_guarded",  "_M_allocate",
    "_M_allocate_buckets", "_M_allocate_map",
    "_M_allocate_node",    "_M_create",
    "_M_create_node",      "_M_create_storage",
    "_M_get_node",         "allocate"};

template <size_t n>
bool IsOneOf(const std::string_view (&names)[n], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// "a::b<c::d(e)>::f(g)" -> "f".
std::string_view LastName(std::string_view function) {
  int depth = 0;
  size_t begin = 0;
  size_t i = 0;
  for (; i < function.size(); ++i) {
    const char c = function[i];
    if (c == '<') {
      ++depth;
    } else if (c == '>') {
      --depth;
    } else if (depth == 0 && c == '(') {
      break;
    } else if (depth == 0 && function.substr(i, 2) == "::") {
      begin = i + 2;
    }
  }
  const std::string_view name = function.substr(begin, i - begin);
  return name.substr(0, name.find('<'));
}

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

bool IsAllocationFunction(std::string_view function) {
  if (function.starts_with("operator new")) return true;
  const std::string_view name = LastName(function);
  if (name == function) {
    if (name.starts_with("__libc_"))
      return IsOneOf(kCFunctions, name.substr(7));
    return IsOneOf(kCFunctions, name);
  }
  return (function.starts_with("std::") ||
          function.starts_with("__gnu_cxx::")) &&
         IsOneOf(kLibraryFunctions, name);
}

std::vector<std::string> AllocationStack(const model::Trace& trace,
                                         model::StackId stack, size_t limit) {
  const model::StackTable& stacks = trace.stacks();
  const auto frame = [&](model::StackId id) {
    return stacks.frame(stacks.leaf(id));
  };
  model::StackId from = stack;
  while (from != model::kEmptyStack &&
         IsAllocationFunction(trace.Name(frame(from).function))) {
    from = stacks.parent(from);
  }
  if (from == model::kEmptyStack) from = stack;
  std::vector<std::string> lines;
  for (; lines.size() < limit && from != model::kEmptyStack;
       from = stacks.parent(from)) {
    lines.push_back(FrameLine(trace, frame(from)));
  }
  return lines;
}

}  // namespace kymo::report
