// starts.h - programs that this process starts, said to its collector.
//
//   StartEntry* const start = NoteStart(getpid(), path, MonotonicNs());
//   execve(path, argv, envp);
//   TakeBackStart(start);  // it could not be run
//
// A program that takes nothing preloaded (it is static, set-uid, or was given
// another environment) cannot tell the collector that it is there. So whoever
// starts it does, and the collector compares with the programs that attached
// (backends/cpu/decode/program_starts.h).
//
// Threads: any; also a signal handler, and a child between vfork and exec.
// Standard library: nothing that needs linking, for the preloaded runtime.
#ifndef KYMO_PROFILER_RECORD_STARTS_H_
#define KYMO_PROFILER_RECORD_STARTS_H_

#include <cstdint>
#include <string_view>

#include "profiler/record/arena/layout.h"

namespace kymo::record {

// `program`, a path or the word that is looked up, runs in process `pid` since
// `start_monotonic_ns`, or is about to. Null where no collector listens.
StartEntry* NoteStart(int32_t pid, std::string_view program,
                      int64_t start_monotonic_ns) noexcept;

// It did not. Null is fine.
void TakeBackStart(StartEntry* start) noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_STARTS_H_
