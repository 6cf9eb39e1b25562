// lock_owner.h - which thread holds the lock that another one waits for.
//
//   if (const auto owner = ReadLockOwner(tid, look.call())) Use(*owner);
//
// The C library keeps the number of the thread that holds a mutex in the mutex,
// and that of a read-write lock's writer in the lock. The kernel keeps that of
// robust mutexes, and of those with priority inheritance, in the futex itself:
// futex(2), set_robust_list(2).
//
// Threads: any. 1 us. The kernel permits it where blocked_look.h says.
#ifndef KYMO_BACKENDS_OFF_CPU_LOOK_LOCK_OWNER_H_
#define KYMO_BACKENDS_OFF_CPU_LOOK_LOCK_OWNER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "backends/off_cpu/look/blocked_call.h"

namespace kymo::off_cpu {

// Where the read-write lock of the C library begins, for one of whose two
// futexes a thread waits: at a multiple of 8.
uint64_t RwLockOf(uint64_t futex);

// What the owner is told from: the words of a futex and of those behind it.
inline constexpr size_t kLockWords = 5;
using LockWords = std::array<uint32_t, kLockWords>;

// Where the owner is in them. Nothing: the call does not wait for a lock that
// knows its owner.
struct OwnerPlace {
  size_t word = 0;
  uint32_t mask = ~uint32_t{0};
  bool is_in_futex_too = false;  // if the lock knows it
};
std::optional<OwnerPlace> PlaceOfOwner(const BlockedCall& call);

// The owner's number, by which its own process calls it. Nothing: nobody holds
// the lock for now, or it does not say. A wait for something else than a lock
// may look like one: check that the process has such a thread.
std::optional<uint32_t> ReadLockOwner(int64_t tid, const BlockedCall& call);

// Whether what lies at the lock and behind it can hardly be but a mutex that
// somebody holds: the number of a thread alone may be other data of a futex.
bool IsHeldMutex(int64_t tid, const BlockedCall& call);

// Whether processes cannot share the futex that the call waits for.
bool IsOfOneProcess(const BlockedCall& call);

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_LOOK_LOCK_OWNER_H_
