// On AArch64, where sampling is not there yet (sampling_backend.cc says so).
#include "backends/sampling/target/target_timer.h"

namespace kymo {

void TargetTimerInit() noexcept {}
void TargetTimerThreadStart(bool) noexcept {}
void TargetTimerThreadExit() noexcept {}
void TargetTimerAfterForkInChild() noexcept {}
void TargetTimerStop(sampling::TimerStop) noexcept {}
bool TargetTimerBlocksSignal() noexcept { return false; }
int TargetTimerChangeMask(int how, const sigset_t* set, sigset_t* old,
                          sampling::MaskCall* real) noexcept {
  return real(how, set, old);
}

}  // namespace kymo
