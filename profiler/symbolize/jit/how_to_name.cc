#include "profiler/symbolize/jit/how_to_name.h"

namespace kymo::symbolize {

std::string HowToNameCode(std::string_view program, int64_t pid) {
  if (program.starts_with("node")) return "run node with --perf-basic-prof";
  if (program.starts_with("mono")) return "run mono with --jitmap";
  if (program.starts_with("dotnet")) return "set DOTNET_PerfMapEnabled=1";
  if (program.starts_with("pypy")) {
    return "PyPy tells no profiler from outside what its code is: python3 runs "
           "the same functions with names";
  }
  // Erlang and Elixir.
  if (program.starts_with("beam")) {
    return "set ERL_FLAGS='+JPperf true'";
  }
  // Its sandbox keeps it from writing the file.
  if (program.starts_with("chrom")) {
    return "run it with --js-flags=--perf-basic-prof --no-sandbox, on pages "
           "that you trust";
  }
  if (program.starts_with("python")) {
    // Numba's, say. Python's own, of 3.13 or later, cannot write it.
    return "let its compiler write /tmp/perf-PID.map; code of Python's own "
           "compiler (3.13 or later) has no names: PYTHON_JIT=0 switches it "
           "off";
  }
  if (!program.starts_with("java")) {
    return "let it write /tmp/perf-PID.map or a jitdump";
  }
  // With these flags, a Java writes the names only when it ends, which may be
  // after the recording.
  return "run java with -XX:+PreserveFramePointer "
         "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit; if it still "
         "runs, `jcmd " +
         std::to_string(pid) +
         " Compiler.perfmap` names it for the next recording";
}

}  // namespace kymo::symbolize
