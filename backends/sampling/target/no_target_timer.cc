// On AArch64, where sampling is not there yet (sampling_backend.cc says so).
#include "backends/sampling/target/target_timer.h"

namespace kymo {

void TargetTimerInit() noexcept {}
void TargetTimerThreadStart() noexcept {}
void TargetTimerThreadExit() noexcept {}
void TargetTimerAfterForkInChild() noexcept {}
void TargetTimerStop(sampling::TimerStop) noexcept {}

}  // namespace kymo
