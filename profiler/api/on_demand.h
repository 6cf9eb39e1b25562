// on_demand.h - let a dynolog daemon start recordings in this program.
//
//   if (const std::error_code error = kymo::AllowOnDemand()) {
//     std::cerr << "not on demand: " << error.message() << "\n";
//   }
//
// A program that has called this, or uses Kymo's sessions or steps and was
// started with KINETO_USE_DAEMON=1, registers with the dynolog daemon of its
// machine and asks it every five seconds what to record, as PyTorch does. So
// `dyno gputrace` starts a recording of all its threads, by time or by the
// steps of step_tracker.h, and `kymo profile --on_demand` does so at once. The
// trace is written where they say (docs/on_demand.md).
//
// Who:     the daemon must run as root or as this program's user. If the
//   program hides its memory (PR_SET_DUMPABLE), only as root.
// Cost:    a thread that sleeps, with all signals blocked, and a socket. While
//   it records, a session of the program's own (profile.h) cannot start.
// Fork:    a child is in no recording of its parent. It registers with its
//   first step, or when it calls this.
// Exit:    a recording that runs when the program ends is written before.
// Threads: any; a second call does nothing.
// Errors:  the system's, if it has no socket or no thread left. What goes wrong
//   later, such as an order that cannot be carried out, is a warning
//   (warning.h).
#ifndef KYMO_PROFILER_API_ON_DEMAND_H_
#define KYMO_PROFILER_API_ON_DEMAND_H_

#include <system_error>

namespace kymo {

[[nodiscard]] std::error_code AllowOnDemand() noexcept;

}  // namespace kymo

#endif  // KYMO_PROFILER_API_ON_DEMAND_H_
