// runtime_memory.h - blocks that the C and C++ runtime keeps for itself.
//
// Not freed at the end, and no leak of the program's: the loader and libc never
// give them back.
//
// - allocated while a library of the runtime started, before any code of the
//   program ran: libstdc++'s emergency pool for exceptions, for instance
// - the buffers of standard streams, the thread-local storage of threads whose
//   stacks libc keeps for the next ones
//
// Told by the stack: by the files that it goes through, and by libc's own names
// of the functions, which its dynamic symbols hold.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_RUNTIME_MEMORY_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_RUNTIME_MEMORY_H_

#include "profiler/model/trace.h"

namespace kymo::analysis {

bool IsRuntimeMemory(const model::Trace& trace, model::StackId stack);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_RUNTIME_MEMORY_H_
