#include "backends/sampling/target/timer_mask.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace kymo::sampling {

// initial-exec: access from a handler must not allocate.
__attribute__((visibility("hidden"))) constinit thread_local bool t_blocks
    __attribute__((tls_model("initial-exec"))) = false;

int ChangeMask(int how, const sigset_t* set, sigset_t* old, MaskCall* real,
               bool keeps_out) noexcept {
  const bool had = t_blocks;
  const bool has = set != nullptr && sigismember(set, kTimerSignal) == 1;
  sigset_t others;
  if (has && keeps_out && how != SIG_UNBLOCK) {
    others = *set;
    sigdelset(&others, kTimerSignal);
    set = &others;
  }
  const int result = real(how, set, old);
  if (result != 0) return result;
  if (old != nullptr && had) sigaddset(old, kTimerSignal);
  if (set != nullptr && (has || how == SIG_SETMASK)) {
    t_blocks = has && keeps_out && how != SIG_UNBLOCK;
  }
  return result;
}

bool BlocksTimerSignal() noexcept { return t_blocks; }
void SetBlocksTimerSignal(bool blocks) noexcept { t_blocks = blocks; }

void UnblockTimerSignal() noexcept {
  constexpr uint64_t kBit = uint64_t{1} << (kTimerSignal - 1);
  uint64_t old = 0;
  // Not libc's function, whose hook would change what the program sees.
  if (syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &kBit, &old, sizeof(old)) == 0) {
    t_blocks = (old & kBit) != 0;
  }
}

void MakePending(const siginfo_t& info, void* context) noexcept {
  t_blocks = false;
  // The kernel takes this mask when the handler returns.
  sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, kTimerSignal);
  if (info.si_code == SI_TKILL) {  // for this thread alone
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), kTimerSignal,
            &info);
  } else if (syscall(SYS_rt_sigqueueinfo, getpid(), kTimerSignal, &info) != 0) {
    // Only the main thread may say that a signal is from kill() or the kernel.
    syscall(SYS_kill, getpid(), kTimerSignal);
  }
}

}  // namespace kymo::sampling
