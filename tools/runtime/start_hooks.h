// start_hooks.h - hooks in front of execve, posix_spawn and the like.
//
// Each hook does what the function always does, and tells the collector which
// program was started (profiler/record/starts.h). Two starts are not told:
// those while no collector records, and system calls that a program makes
// itself.
//
// Threads: the same as for the functions, which may be called in signal
//   handlers and between vfork and exec: the hooks allocate nothing and take no
//   lock.
#ifndef KYMO_TOOLS_RUNTIME_START_HOOKS_H_
#define KYMO_TOOLS_RUNTIME_START_HOOKS_H_

namespace kymo {

// Looks up the real functions. Call it while that is safe, since the loader
// takes locks.
void FindRealStarts() noexcept;

}  // namespace kymo

#endif  // KYMO_TOOLS_RUNTIME_START_HOOKS_H_
