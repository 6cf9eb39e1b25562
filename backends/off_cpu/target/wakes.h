// wakes.h - tells whether a thread waits for a lock, as glibc 2.26 and later
// have it, and notes who ends such a wait.
//
//   if (HasWaiters(mutex)) NoteWake(mutex, function);  // a pthread_mutex_t*
//   return real.pthread_mutex_unlock(mutex);
//
// A lock may say so when nobody waits any more: then the note belongs to no
// wait, and the collector drops it.
#ifndef KYMO_BACKENDS_OFF_CPU_TARGET_WAKES_H_
#define KYMO_BACKENDS_OFF_CPU_TARGET_WAKES_H_

#include <stdint.h>
#include <string.h>

#include "backends/off_cpu/target/hook.h"

namespace kymo::off_cpu {

// A copy of words that other threads change.
template <typename Word>
KYMO_INLINE Word Load(const Word& word) noexcept {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

KYMO_INLINE bool HasWaiters(const pthread_mutex_t* mutex) noexcept {
  constexpr int kRobustOrInheriting = 16 | 32;
  constexpr uint32_t kWaiters = 0x80000000;  // FUTEX_WAITERS
  const auto lock = static_cast<uint32_t>(Load(mutex->__data.__lock));
  if (lock <= 1) [[likely]]
    return false;
  return (mutex->__data.__kind & kRobustOrInheriting) == 0 ||
         (lock & kWaiters) != 0;
}

KYMO_INLINE bool HasWaiters(const pthread_rwlock_t* lock) noexcept {
  constexpr uint32_t kUsed = 2;  // of either futex
  return ((Load(lock->__data.__wrphase_futex) |
           Load(lock->__data.__writers_futex)) &
          kUsed) != 0;
}

KYMO_INLINE bool HasWaiters(const pthread_cond_t* condition) noexcept {
  constexpr int kFlagBits = 3;  // below the number of waiters
  return Load(condition->__data.__wrefs) >> kFlagBits != 0;
}

// The value, and above it the number of waiters.
KYMO_INLINE bool HasWaiters(const sem_t* semaphore) noexcept {
  uint64_t words;
  memcpy(&words, semaphore, sizeof(words));
  return words >> 32 != 0;
}

// Whether processes share the object, as glibc has it.
KYMO_INLINE bool IsShared(const pthread_mutex_t* mutex) noexcept {
  return (mutex->__data.__kind & 128) != 0;
}
KYMO_INLINE bool IsShared(const pthread_rwlock_t* lock) noexcept {
  return lock->__data.__shared != 0;
}
KYMO_INLINE bool IsShared(const pthread_cond_t* condition) noexcept {
  return (Load(condition->__data.__wrefs) & 1) != 0;
}
// Behind the value and the number of waiters.
KYMO_INLINE bool IsShared(const sem_t* semaphore) noexcept {
  int word;
  memcpy(&word, reinterpret_cast<const char*>(semaphore) + sizeof(uint64_t),
         sizeof(word));
  return word != 0;
}

template <typename Object>
KYMO_INLINE void NoteWake(const Object* object, const void* function) noexcept {
  if (!MayNoteWake()) return;
  const uint64_t now = CallTicks();
  NoteCall(now, now,
           {.kind = CallKind::kWake,
            .object = reinterpret_cast<uint64_t>(object),
            .function = function,
            .is_shared = IsShared(object)});
}

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_TARGET_WAKES_H_
