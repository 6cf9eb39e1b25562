// attach.h - let `kymo profile --pid` record this program's ranges while it
// runs.
//
//   if (const std::error_code error = kymo::AllowAttach()) {
//     std::cerr << "no attaching: " << error.message() << "\n";
//   }
//
// `kymo profile --pid=PID` samples any program. Of one that has called this, or
// was started with KYMO_ATTACH=1, it also records the ranges, the memory and
// what is said through NVTX and ITT, from when the command asks until it ends
// (docs/attach.md). It may do so any number of times.
//
// Who:     the program's own user, and root. If the program hides its memory
//   from its user (PR_SET_DUMPABLE), only root.
// Cost:    a thread that sleeps, with all signals blocked, and a socket. Memory
//   is taken when a command comes, and given back when it leaves.
// Fork:    a child is in none of its parent's recordings. It has a door of its
//   own from its first range on.
// Threads: any; a second call does nothing.
// Errors:  std::errc::device_or_resource_busy if a session of the program's own
//   (profile.h) came before: its memory cannot be handed over. Or the system's,
//   if it has no socket or no thread left. The program goes on without.
#ifndef KYMO_PROFILER_API_ATTACH_H_
#define KYMO_PROFILER_API_ATTACH_H_

#include <system_error>

namespace kymo {

[[nodiscard]] std::error_code AllowAttach() noexcept;

}  // namespace kymo

#endif  // KYMO_PROFILER_API_ATTACH_H_
