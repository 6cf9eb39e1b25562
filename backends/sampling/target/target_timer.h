// target_timer.h - the part of the sampler that runs inside the target.
//
// It is used only where perf_event_open is not permitted. Each thread has a
// timer on its own CPU time. The timer's signal (SIGPROF) writes the stack into
// a free cell of a ring, which the collector owns and reads. Mostly it follows
// the stack at once (profiler/unwind) and writes return addresses. It knows
// then which loaded file each one is in, also if the file is unloaded before
// the collector looks. Where it does not find the end of the stack, it copies
// registers and the top of the stack, which the collector unwinds with all of
// DWARF:
//
//   constructor of the preloaded library   TargetTimerInit
//   first / last thing of a new thread     TargetTimerThreadStart / ThreadExit
//   pthread_atfork's child handler         TargetTimerAfterForkInChild
//
// All are no-ops unless the environment variable kTargetTimerVariable names the
// ring. Needs libc only: no libstdc++, no allocation, no lock, no descriptor.
//
// A program that uses SIGPROF itself keeps it. In a preloaded library,
// sigaction() and signal() of this file come before libc's. They remember the
// program's handler for SIGPROF, and every signal that is not our timer's is
// passed on to it. If it is blocked, as the program sees it, the signal is
// pending; if it has no handler either, the timers stop.
//
// Timers stop for good in a process that they might harm (TargetTimerStop). The
// hooks of its functions (backends/off_cpu/target) notice that.
//
// Threads: each call concerns the calling thread; the handler is
//   async-signal-safe, keeps errno and never faults on the stack it copies.
#ifndef KYMO_BACKENDS_SAMPLING_TARGET_TARGET_TIMER_H_
#define KYMO_BACKENDS_SAMPLING_TARGET_TARGET_TIMER_H_

#include <signal.h>

#include "backends/sampling/target/sample_ring.h"
#include "backends/sampling/target/timer_mask.h"

namespace kymo {

// Set for the target by the backend's Prepare.
inline constexpr char kTargetTimerVariable[] = "KYMO_SAMPLING_RING";

// Maps the ring, installs the handler, and arms the calling thread.
void TargetTimerInit() noexcept;

// `blocks_signal`: what the thread that made this one had as
// TargetTimerBlocksSignal.
void TargetTimerThreadStart(bool blocks_signal = false) noexcept;
void TargetTimerThreadExit() noexcept;

// Timers do not survive a fork: this arms the child's only thread again. A
// child without this call has no timers. One of a process that has stopped its
// timers counts as stopped, too.
void TargetTimerAfterForkInChild() noexcept;

// Ends the timers of all threads of this process, for good. The first call
// counts for the collector; later ones make no system call.
void TargetTimerStop(sampling::TimerStop why) noexcept;

// Whether this thread has the signal blocked, as the program sees it.
bool TargetTimerBlocksSignal() noexcept;

// What pthread_sigmask and sigprocmask do, whose real function is `real`. The
// timers' signal is kept out of the real mask, unless the program has a handler
// for it.
int TargetTimerChangeMask(int how, const sigset_t* set, sigset_t* old,
                          sampling::MaskCall* real) noexcept;

}  // namespace kymo

#endif  // KYMO_BACKENDS_SAMPLING_TARGET_TARGET_TIMER_H_
