// wait_functions.h - functions that wait for others: what they are called for
// is known by their callers.
//
//   IsWaitFunction("pthread_mutex_lock")       // true: the C library's
//   IsWaitFunction("uv_cond_wait")             // true: libuv's, around that
//   IsWaitFunction("QMutex::lock()")           // true
//   IsWaitFunction("syscall.Fsync")            // true: Go's
//   IsWaitFunction("Cache::Lock()")            // false
//
// Names are demangled. Threads: any.
#ifndef KYMO_PROFILER_ANALYSIS_WAIT_FUNCTIONS_H_
#define KYMO_PROFILER_ANALYSIS_WAIT_FUNCTIONS_H_

#include <string_view>

#include "profiler/model/string_table.h"

namespace kymo::analysis {

// Whether `function` is of the C library, which a program may have in its own
// file, of what C++'s headers put there, or a library's function that does no
// more than to call these: a lock, a condition or a system call.
bool IsWaitFunction(std::string_view function);

// Whether a static C library has a function of this name that waits. Elsewhere,
// one of the program's may have such a name.
bool IsStaticCall(std::string_view function);

// Whether the file at `path` is a virtual machine whose functions wait for
// those that it compiled: of Java or of JavaScript.
bool IsVirtualMachine(std::string_view path);

// Whether a trace with these names has a function of Node.js's V8. If it has
// none, a file called `node` is another program, maybe with a namespace `node`.
bool HasNodeJs(const model::StringTable& names);

// Whether the file at `path` is Python's interpreter, or a part of its library
// that is written in C.
bool IsPythonsFile(std::string_view path);

// Whether the function, of a virtual machine's file, stands for one of
// JavaScript whose name is not known.
bool IsV8sInterpreter(std::string_view function);

// What a function of the module "[jit]" is, by its name. Without a name that
// says more, it is the machine's own.
enum class JitFunction {
  kStub,         // of the machine: "StubRoutines (1)"
  kInterpreter,  // stands for a function whose name is not known
  kLibrary,      // of Java's own library
  kProgram,
};
JitFunction KindOfJitFunction(std::string_view function);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_WAIT_FUNCTIONS_H_
