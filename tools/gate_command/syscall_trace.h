// syscall_trace.h - runs a program and counts what it asks of the kernel.
//
//   TracedRun run;
//   KYMO_RETURN_IF_ERROR(TraceSystemCalls({"./app", "-v"}, {}, run));
//   run.system_calls;    // of all its threads, and of all programs it started
//
// It traces the program (ptrace), which makes system calls slow: no time of
// such a run means anything. Counted is what a program did from where
// libkymo_calls.so says that the loader is done; of programs that are linked
// statically, everything.
//
// Errors: kPermissionDenied if this system lets nobody trace: it says what to
//         do. kUnimplemented if the kernel is too old. kNotFound if the program
//         is not there.
// Threads: the calling process must have no other children.
#ifndef KYMO_TOOLS_GATE_COMMAND_SYSCALL_TRACE_H_
#define KYMO_TOOLS_GATE_COMMAND_SYSCALL_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/gate_command/program_streams.h"

namespace kymo::tools {

struct TracedRun {
  uint64_t system_calls = 0;
  uint64_t files_opened = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t page_faults = 0;
  int wait_status = 0;  // of the program, as waitpid gives it
  // libkymo_calls.so is in the program: it is not linked statically, for
  // example.
  bool has_library = false;
  // Threads of processes that were still there kPatienceMs after its end. They
  // were killed.
  size_t left_behind = 0;
};

inline constexpr int kPatienceMs = 2000;

// `environment` is added to this process's.
absl::Status TraceSystemCalls(
    const std::vector<std::string>& command,
    const std::map<std::string, std::string>& environment, TracedRun& run,
    const StreamDescriptors& streams = kOwnStreams);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_GATE_COMMAND_SYSCALL_TRACE_H_
