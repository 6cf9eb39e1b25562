// start_hooks.h - the runtime stands before execve, posix_spawn and their like.
//
// They do what they always do, and the collector learns which program was
// started (profiler/record/starts.h). Where no collector records, and for
// system calls that a program makes by itself, nothing is said.
//
// Threads: as the functions themselves, which may be called in signal handlers
//   and between vfork and exec: nothing is allocated or locked there.
#ifndef KYMO_TOOLS_RUNTIME_START_HOOKS_H_
#define KYMO_TOOLS_RUNTIME_START_HOOKS_H_

namespace kymo {

// Looks the next functions of these names up, while that is safe: the loader
// takes locks.
void FindRealStarts() noexcept;

}  // namespace kymo

#endif  // KYMO_TOOLS_RUNTIME_START_HOOKS_H_
