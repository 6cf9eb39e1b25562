// restricted_calls.h - whether the program restricts its own system calls.
//
//   calls_are_restricted.store(true, std::memory_order_relaxed);
//   return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
//
// The program's filter (seccomp) may end it for a system call that it never
// makes itself. From then on the recorder makes only those without which
// nothing can be recorded: a thread that begins to record has no name. Forked
// children have the filter, too, and a copy of this. A program that the process
// begins by exec has the filter as well, and does not know of it.
//
// Threads: any.
#ifndef KYMO_PROFILER_RECORD_HOST_RESTRICTED_CALLS_H_
#define KYMO_PROFILER_RECORD_HOST_RESTRICTED_CALLS_H_

#include <atomic>

namespace kymo::record {

inline constinit std::atomic<bool> calls_are_restricted{false};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_RESTRICTED_CALLS_H_
