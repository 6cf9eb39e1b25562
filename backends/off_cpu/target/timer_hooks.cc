// timer_hooks.cc - the functions by which a program would get into the way of
// the timers that sample it (backends/sampling/target).
#include "backends/off_cpu/target/hook.h"
#include "backends/sampling/target/target_timer.h"

namespace {

void StopForOwnSignal() noexcept {
  kymo::TargetTimerStop(kymo::sampling::TimerStop::kOwnSignal);
}

}  // namespace

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

// These set a handler of SIGPROF inside of libc, where no hook sees it, and
// count what comes to it. A program of gcc -pg calls __monstartup.
KYMO_EXPORT int profil(unsigned short* counts, size_t size, size_t offset,
                       unsigned scale) noexcept {
  using namespace kymo::off_cpu;  // NOLINT
  StopForOwnSignal();
  return REAL(profil)(counts, size, offset, scale);
}

KYMO_EXPORT int sprofil(struct prof* parts, int count, timeval* period,
                        unsigned flags) noexcept {
  using namespace kymo::off_cpu;  // NOLINT
  StopForOwnSignal();
  return REAL(sprofil)(parts, count, period, flags);
}

KYMO_EXPORT void monstartup(u_long low, u_long high) noexcept {
  using namespace kymo::off_cpu;  // NOLINT
  StopForOwnSignal();
  REAL(monstartup)(low, high);
}

KYMO_EXPORT void __monstartup(u_long low, u_long high) noexcept {
  using namespace kymo::off_cpu;  // NOLINT
  StopForOwnSignal();
  REAL(__monstartup)(low, high);
}
