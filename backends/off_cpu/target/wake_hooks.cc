// wake_hooks.cc - the functions that end waits of other threads: they note who
// did, and where.
//
// Whether a thread waits is read from the lock, as glibc 2.26 and later have
// it. If none does, a hook does nothing else. A note comes before the real
// call: the woken thread may run first, and then the collector knows already.
#include "backends/off_cpu/target/wakes.h"

// What comes after a look at the lock is a function of its own, which the hook
// reaches by a jump; so the hook saves no registers.
#define KYMO_WAKE_HOOK(name, object, parameters, arguments)                 \
  static __attribute__((noinline)) int Waking_##name parameters noexcept {  \
    using namespace ::kymo::off_cpu; /* NOLINT */                           \
    NoteWake(object, reinterpret_cast<const void*>(real.name));             \
    return real.name arguments;                                             \
  }                                                                         \
  KYMO_EXPORT int name parameters noexcept {                                \
    using namespace ::kymo::off_cpu; /* NOLINT */                           \
    const auto function = REAL(name);                                       \
    if (IsWatching() && HasWaiters(object)) return Waking_##name arguments; \
    return function arguments;                                              \
  }

KYMO_WAKE_HOOK(pthread_mutex_unlock, mutex, (pthread_mutex_t * mutex), (mutex))
KYMO_WAKE_HOOK(pthread_rwlock_unlock, lock, (pthread_rwlock_t * lock), (lock))
KYMO_WAKE_HOOK(pthread_cond_signal, condition, (pthread_cond_t * condition),
               (condition))
KYMO_WAKE_HOOK(pthread_cond_broadcast, condition, (pthread_cond_t * condition),
               (condition))
KYMO_WAKE_HOOK(sem_post, semaphore, (sem_t * semaphore), (semaphore))
