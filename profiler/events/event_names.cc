#include "profiler/events/event_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

namespace kymo {
namespace {

constexpr std::string_view kFilteredNames[] = {
    "[memory]",
    "[OutOfMemory]",
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
};

// An entry that contains both texts of a pair is left out.
constexpr std::string_view kFilteredEntries[][2] = {
    {"autograd/__init__", "_make_grads"},
    {"autograd/__init__", "backward"},
    {"torch/tensor", "backward"},
    {"_internal/common_utils", "prof_callable"},
    {"_internal/common_utils", "prof_func_call"},
    {"_internal/common_utils", "prof_meth_call"},
};

std::string Demangle(std::string_view name) {
  std::string text(name);
  if (!name.starts_with("_Z")) return text;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), std::free);
  return demangled != nullptr ? std::string(demangled.get()) : text;
}

}  // namespace

bool IsFilteredName(std::string_view name) noexcept {
  return std::find(std::begin(kFilteredNames), std::end(kFilteredNames),
                   name) != std::end(kFilteredNames);
}

bool IsFilteredStackEntry(std::string_view entry) noexcept {
  return std::any_of(std::begin(kFilteredEntries), std::end(kFilteredEntries),
                     [entry](const auto& pair) {
                       return entry.find(pair[0]) != entry.npos &&
                              entry.find(pair[1]) != entry.npos;
                     });
}

std::string RewriteName(std::string_view name, StepNames step_names) {
  std::string text = Demangle(name);
  if (step_names == StepNames::kWildcard && text.starts_with("ProfilerStep#")) {
    return "ProfilerStep*";
  }
  return text;
}

}  // namespace kymo
