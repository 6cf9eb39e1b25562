// timer_hooks.cc - the functions by which a program would get into the way of
// the timers that sample it (backends/sampling/target).
#include "backends/off_cpu/target/hook.h"
#include "backends/sampling/target/target_timer.h"

KYMO_EXPORT int pthread_sigmask(int how, const sigset_t* set,
                                sigset_t* old) noexcept {
  using namespace kymo::off_cpu;  // NOLINT
  return kymo::TargetTimerChangeMask(how, set, old, REAL(pthread_sigmask));
}

KYMO_EXPORT int sigprocmask(int how, const sigset_t* set,
                            sigset_t* old) noexcept {
  using namespace kymo::off_cpu;  // NOLINT
  return kymo::TargetTimerChangeMask(how, set, old, REAL(sigprocmask));
}
