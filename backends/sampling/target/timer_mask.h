// timer_mask.h - keeps the timers' signal out of the signal masks of threads,
// and remembers where the program has it blocked.
//
//   // The hook of pthread_sigmask or sigprocmask:
//   return ChangeMask(how, set, old, real, keeps_out);
//
// Many servers block all signals in all threads but one. Such threads are
// sampled like others, and the program sees the masks that it has set.
//
// Threads: each call concerns the calling thread. All are async-signal-safe.
#ifndef KYMO_BACKENDS_SAMPLING_TARGET_TIMER_MASK_H_
#define KYMO_BACKENDS_SAMPLING_TARGET_TIMER_MASK_H_

#include <signal.h>

namespace kymo::sampling {

inline constexpr int kTimerSignal = SIGPROF;

using MaskCall = int(int how, const sigset_t* set, sigset_t* old);

// As the real function. While `keeps_out`, the signal is not really blocked.
int ChangeMask(int how, const sigset_t* set, sigset_t* old, MaskCall* real,
               bool keeps_out) noexcept;

// Whether this thread has the signal blocked, as the program sees it.
bool BlocksTimerSignal() noexcept;
// A new thread has the mask of the thread that made it.
void SetBlocksTimerSignal(bool blocks) noexcept;

// Takes the signal out of the mask with which the program began.
void UnblockTimerSignal() noexcept;

// In the handler, for a signal that is none of the timers' and that this thread
// has blocked, as the program sees it: from now on it really is, and the signal
// is pending.
void MakePending(const siginfo_t& info, void* context) noexcept;

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_TARGET_TIMER_MASK_H_
