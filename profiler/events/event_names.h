// event_names.h - which raw events become events, and how they are named.
//
//   IsFilteredName("[memory]")                          // true
//   RewriteName("_Z3foov", StepNames::kWildcard)        // "foo()"
//   RewriteName("ProfilerStep#7", StepNames::kWildcard) // "ProfilerStep*"
//   IsFilteredStackEntry("torch/autograd/__init__.py(98): backward")  // true
#ifndef KYMO_PROFILER_EVENTS_EVENT_NAMES_H_
#define KYMO_PROFILER_EVENTS_EVENT_NAMES_H_

#include <string>
#include <string_view>

namespace kymo {

// Names of bookkeeping that PyTorch leaves out of its lists (not of traces):
// memory records, the calls that make user ranges, trivial attribute reads.
bool IsFilteredName(std::string_view name) noexcept;

// Stack entries of PyTorch's own machinery, which its lists leave out.
bool IsFilteredStackEntry(std::string_view entry) noexcept;

enum class StepNames {
  kKeep,      // "ProfilerStep#7", as in traces
  kWildcard,  // "ProfilerStep*", so that steps are averaged together
};

// The name to show. Mangled C++ names are demangled: only those that begin
// with "_Z", because the demangler takes bare types too and would make an
// "unsigned short" of "t".
std::string RewriteName(std::string_view name, StepNames step_names);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_EVENT_NAMES_H_
