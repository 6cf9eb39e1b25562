// jit_function_name.h - what a runtime's name of a function says.
//
//   NameOfJitFunction("JS:*fib /srv/app.js:3:14")     // fib, /srv/app.js, 3
//   NameOfJitFunction("py::fib:/srv/app.py")          // fib, /srv/app.py
//
// V8 has code of one function from several compilers, which it marks with a
// sign. They are one function here. Other names stay as they are, but for
// mangled ones.
#ifndef KYMO_PROFILER_SYMBOLIZE_JIT_JIT_FUNCTION_NAME_H_
#define KYMO_PROFILER_SYMBOLIZE_JIT_JIT_FUNCTION_NAME_H_

#include <string_view>

#include "profiler/symbolize/module_symbolizer.h"

namespace kymo::symbolize {

// Function, file and line. Control characters become '?'.
NamedFrame NameOfJitFunction(std::string_view name);

// Whether the name is V8's. Its jitdump puts lines 64 bytes behind the code
// that they are of, since `perf inject` places an ELF header before it.
bool IsJavaScriptName(std::string_view name);

// Whether `file` can be the name of a script that code of the function
// `name` is from. For scripts of users, node 20 writes other memory's bytes
// instead of the script's name into its jitdump, and what comes after them in
// the record is wrong, too.
bool IsScriptOf(std::string_view name, std::string_view file);

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_JIT_JIT_FUNCTION_NAME_H_
