#include "backends/sampling/target_timer.h"

namespace kymo {

void TargetTimerInit() noexcept {}
void TargetTimerThreadStart() noexcept {}
void TargetTimerThreadExit() noexcept {}
void TargetTimerAfterForkInChild() noexcept {}

}  // namespace kymo
