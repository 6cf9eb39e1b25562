// early_ends.h - counts where stacks end that do not lead to a root, and says
// what would help.
//
//   EarlyEnds ends;
//   ends.Add(4711, modules.module(place.module));  // of the outermost frame
//   Say(ends.Remark(stack_count, [&](int64_t pid) { return NameOf(pid); }));
//
// Threads: none. Modules are borrowed.
#ifndef KYMO_PROFILER_SYMBOLIZE_JIT_EARLY_ENDS_H_
#define KYMO_PROFILER_SYMBOLIZE_JIT_EARLY_ENDS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "profiler/symbolize/elf_module.h"

namespace kymo::symbolize {

class EarlyEnds {
 public:
  // Programs share files. Code that a program made is its own.
  void Add(int64_t pid, const ElfModule& module);

  // Of the code in which most of them end. Empty if they are few of `stacks`.
  std::string Remark(
      uint64_t stacks,
      const std::function<std::string(int64_t pid)>& name_of) const;

 private:
  // The process is 0 for files.
  std::map<std::pair<int64_t, const ElfModule*>, uint64_t> counts_;
  uint64_t all_ = 0;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_JIT_EARLY_ENDS_H_
