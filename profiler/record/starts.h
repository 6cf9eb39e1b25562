// starts.h - tells the collector which programs this process starts.
//
//   StartEntry* const start =
//       NoteStart(getpid(), path, MonotonicNs(), StartEnvironment::kComplete);
//   execve(path, argv, envp);
//   TakeBackStart(start);  // it could not be run
//
// A program may load nothing preloaded: it is static, set-uid, or was given
// another environment. Such a program cannot tell the collector that it exists.
// So the process that starts it does. The collector compares the starts with
// the programs that attached (backends/stream/decode/program_starts.h).
//
// Threads: any; also a signal handler, and a child between vfork and exec.
// Standard library: nothing that needs linking, for the preloaded runtime.
#ifndef KYMO_PROFILER_RECORD_STARTS_H_
#define KYMO_PROFILER_RECORD_STARTS_H_

#include <cstdint>
#include <string_view>

#include "profiler/record/arena/layout.h"

namespace kymo::record {

// Notes that `program` runs in process `pid` since `start_monotonic_ns`, or is
// about to. `program` is a path, or a word that is looked up. Null if no
// collector listens.
StartEntry* NoteStart(int32_t pid, std::string_view program,
                      int64_t start_monotonic_ns,
                      StartEnvironment environment) noexcept;

// Call it if the program did not start. `start` may be null.
void TakeBackStart(StartEntry* start) noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_STARTS_H_
