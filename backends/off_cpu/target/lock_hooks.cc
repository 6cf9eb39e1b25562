// lock_hooks.cc - the functions that wait for locks, conditions and threads.
//
// A lock that is free takes no clock and no stack: the hook tries it first. If
// another thread has it, the lock tells who (glibc's mutexes and the writers of
// its read-write locks). A call with a time limit is not tried: glibc refuses a
// wrong time or clock even if the lock is free.
#include <errno.h>

#include "backends/off_cpu/target/hook.h"
#include "backends/off_cpu/target/wakes.h"

namespace {

// Perhaps of another process, if processes share the lock.
KYMO_INLINE uint32_t HolderOf(const pthread_mutex_t* mutex) {
  return static_cast<uint32_t>(mutex->__data.__owner);
}
KYMO_INLINE uint32_t HolderOf(const pthread_rwlock_t* lock) {
  return static_cast<uint32_t>(lock->__data.__cur_writer);
}

}  // namespace

// `attempt` is the function that does not wait. Whatever it says but "busy"
// (locked, owner dead, invalid), the one that waits would have said. What comes
// after that is a function of its own, which the hook reaches by a jump; so the
// hook saves no registers.
#define KYMO_LOCK_HOOK(name, attempt, lock, parameters, arguments)             \
  static __attribute__((noinline)) int Held_##name parameters noexcept {       \
    using namespace ::kymo::off_cpu; /* NOLINT */                              \
    const uint32_t holder = HolderOf(lock);                                    \
    KYMO_TIMED_CALL(name, arguments, kLock, Object(lock), least_ticks, holder) \
  }                                                                            \
  KYMO_EXPORT int name parameters noexcept {                                   \
    using namespace ::kymo::off_cpu; /* NOLINT */                              \
    if (!IsWatching()) return REAL(name) arguments;                            \
    const int error = REAL(attempt)(lock);                                     \
    if (error != EBUSY) [[likely]]                                             \
      return error;                                                            \
    return Held_##name arguments;                                              \
  }

#define KYMO_TIMED_LOCK_HOOK(name, lock, parameters, arguments)                \
  KYMO_EXPORT int name parameters noexcept {                                   \
    using namespace ::kymo::off_cpu; /* NOLINT */                              \
    if (!IsWatching()) return REAL(name) arguments;                            \
    const uint32_t holder = HolderOf(lock);                                    \
    KYMO_TIMED_CALL(name, arguments, kLock, Object(lock), least_ticks, holder) \
  }

KYMO_LOCK_HOOK(pthread_mutex_lock, pthread_mutex_trylock, mutex,
               (pthread_mutex_t * mutex), (mutex))
KYMO_TIMED_LOCK_HOOK(pthread_mutex_timedlock, mutex,
                     (pthread_mutex_t * mutex, const timespec* until),
                     (mutex, until))
KYMO_TIMED_LOCK_HOOK(pthread_mutex_clocklock, mutex,
                     (pthread_mutex_t * mutex, clockid_t clock,
                      const timespec* until),
                     (mutex, clock, until))
KYMO_LOCK_HOOK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, lock,
               (pthread_rwlock_t * lock), (lock))
KYMO_TIMED_LOCK_HOOK(pthread_rwlock_timedrdlock, lock,
                     (pthread_rwlock_t * lock, const timespec* until),
                     (lock, until))
KYMO_TIMED_LOCK_HOOK(pthread_rwlock_clockrdlock, lock,
                     (pthread_rwlock_t * lock, clockid_t clock,
                      const timespec* until),
                     (lock, clock, until))
KYMO_LOCK_HOOK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, lock,
               (pthread_rwlock_t * lock), (lock))
KYMO_TIMED_LOCK_HOOK(pthread_rwlock_timedwrlock, lock,
                     (pthread_rwlock_t * lock, const timespec* until),
                     (lock, until))
KYMO_TIMED_LOCK_HOOK(pthread_rwlock_clockwrlock, lock,
                     (pthread_rwlock_t * lock, clockid_t clock,
                      const timespec* until),
                     (lock, clock, until))

// Semaphores are cancellation points, even if they need not wait.
KYMO_EXPORT int sem_wait(sem_t* semaphore) {
  using namespace ::kymo::off_cpu; /* NOLINT */
  if (!IsWatching()) return REAL(sem_wait)(semaphore);
  pthread_testcancel();
  const int saved_errno = errno;
  if (REAL(sem_trywait)(semaphore) == 0) return 0;
  errno = saved_errno;
  KYMO_TIMED_CALL(sem_wait, (semaphore), kLock, Object(semaphore), least_ticks,
                  0)
}

KYMO_WAIT_HOOK(int, sem_timedwait, (sem_t * semaphore, const timespec* until),
               (semaphore, until), kLock, Object(semaphore))
KYMO_WAIT_HOOK(int, sem_clockwait,
               (sem_t * semaphore, clockid_t clock, const timespec* until),
               (semaphore, clock, until), kLock, Object(semaphore))

// Gives back the mutex, for which others may wait, and later waits for it.
#define KYMO_CONDITION_HOOK(name, parameters, arguments)                  \
  KYMO_EXPORT int name parameters {                                       \
    using namespace ::kymo::off_cpu; /* NOLINT */                         \
    if (!IsWatching()) return REAL(name) arguments;                       \
    const auto function = reinterpret_cast<const void*>(real.name);       \
    if (HasWaiters(mutex)) NoteWake(mutex, function);                     \
    const uint64_t begin = CallTicks();                                   \
    const int result = real.name arguments;                               \
    const uint64_t end = CallTicks();                                     \
    if (end - begin < watch.least_ticks) return result;                   \
    NoteCall(begin, end,                                                  \
             {.kind = CallKind::kCondition,                               \
              .object = reinterpret_cast<uint64_t>(condition),            \
              .function = function,                                       \
              .mutex = mutex,                                             \
              .mutex_function =                                           \
                  reinterpret_cast<const void*>(real.pthread_mutex_lock), \
              .has_timed_out = result == ETIMEDOUT});                     \
    return result;                                                        \
  }

KYMO_CONDITION_HOOK(pthread_cond_wait,
                    (pthread_cond_t * condition, pthread_mutex_t* mutex),
                    (condition, mutex))
KYMO_CONDITION_HOOK(pthread_cond_timedwait,
                    (pthread_cond_t * condition, pthread_mutex_t* mutex,
                     const timespec* until),
                    (condition, mutex, until))
KYMO_CONDITION_HOOK(pthread_cond_clockwait,
                    (pthread_cond_t * condition, pthread_mutex_t* mutex,
                     clockid_t clock, const timespec* until),
                    (condition, mutex, clock, until))
KYMO_WAIT_HOOK(int, pthread_barrier_wait, (pthread_barrier_t * barrier),
               (barrier), kCondition, Object(barrier), noexcept)
KYMO_WAIT_HOOK(int, pthread_join, (pthread_t thread, void** result_of),
               (thread, result_of), kCondition, kNoObject)
KYMO_WAIT_HOOK(int, pthread_timedjoin_np,
               (pthread_t thread, void** result_of, const timespec* until),
               (thread, result_of, until), kCondition, kNoObject)
KYMO_WAIT_HOOK(int, pthread_clockjoin_np,
               (pthread_t thread, void** result_of, clockid_t clock,
                const timespec* until),
               (thread, result_of, clock, until), kCondition, kNoObject)

KYMO_WAIT_HOOK(int, semop, (int id, sembuf* operations, size_t count),
               (id, operations, count), kLock, kNoObject, noexcept)
KYMO_WAIT_HOOK(int, semtimedop,
               (int id, sembuf* operations, size_t count,
                const timespec* until),
               (id, operations, count, until), kLock, kNoObject, noexcept)
KYMO_WAIT_HOOK(int, flock, (int fd, int operation), (fd, operation), kLock,
               Descriptor(fd), noexcept)
