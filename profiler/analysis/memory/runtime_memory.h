// runtime_memory.h - blocks that the C and C++ runtime keeps for itself.
//
// The loader and libc never free these blocks, so at the end they are no leaks
// of the program:
//
// - blocks that were allocated while a library of the runtime started, before
//   any code of the program ran, such as libstdc++'s emergency pool for
//   exceptions
// - the buffers of standard streams, and the thread-local storage of threads
//   whose stacks libc keeps for later threads
//
//   RuntimeMemory runtime(trace);
//   if (runtime.Has(leak.id)) ...
//
// The stack tells them: the files that it goes through, and libc's own names of
// the functions, which libc's dynamic symbols hold.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_RUNTIME_MEMORY_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_RUNTIME_MEMORY_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/model/trace.h"

namespace kymo::analysis {

// Whether the file at `path` is one of the C or C++ runtime: libc, libstdc++
// and what comes with them, and "[vdso]", the kernel's part of libc.
bool IsRuntimeFile(std::string_view path);

// Looks at each frame and each stack of the trace once, when it is first asked.
// Threads: none.
class RuntimeMemory {
 public:
  explicit RuntimeMemory(const model::Trace& trace) : trace_(trace) {}
  bool Has(model::StackId stack);

 private:
  void LookAtAll();

  const model::Trace& trace_;
  std::vector<uint8_t> of_stack_;  // bits, by stack
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_RUNTIME_MEMORY_H_
