#include "backends/off_cpu/look/lock_owner.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <span>

#include "profiler/processes/thread_reads.h"

namespace kymo::off_cpu {
namespace {

constexpr uint64_t kFutexLockPi2 = 13;  // FUTEX_LOCK_PI2

// glibc 2.26 and later, x86-64. A mutex is `lock, count, owner, users, kind`,
// and waits for a change of `lock` from 2. A read-write lock is `readers,
// writers, phase, writer futex, -, -, current writer`. Who waits until a writer
// has ended waits for a change of one of its two futexes from 3.
constexpr uint32_t kMutexValue = 2;
constexpr uint32_t kWriterValue = 3;
constexpr size_t kMutexCount = 1;
constexpr size_t kMutexOwner = 2;
constexpr size_t kMutexUsers = 3;
constexpr size_t kMutexKind = 4;
constexpr uint32_t kMostUsers = 1u << 22;  // threads of Linux
constexpr uint32_t kKindBits = 0x3ff;      // type, attributes, elision
constexpr uint32_t kTypeBits = 3;
constexpr uint32_t kRecursive = 1;
// Where these are in a read-write lock.
constexpr size_t kPhaseBytes = 8;
constexpr size_t kWriterFutexBytes = 12;
constexpr size_t kWriterBytes = 24;

bool ReadWords(int64_t tid, const BlockedCall& call, LockWords& words) {
  return processes::ReadThreadMemory(tid, call.arguments[0],
                                     std::as_writable_bytes(std::span(words)));
}

}  // namespace

uint64_t RwLockOf(uint64_t futex) {
  return futex - (futex % 8 == 0 ? kPhaseBytes : kWriterFutexBytes);
}

std::optional<OwnerPlace> PlaceOfOwner(const BlockedCall& call) {
  if (call.number != SYS_futex) return std::nullopt;
  const uint64_t command = call.arguments[1] & FUTEX_CMD_MASK;
  constexpr OwnerPlace kInFutex = {0, FUTEX_TID_MASK};
  if (command == FUTEX_LOCK_PI || command == kFutexLockPi2) return kInFutex;
  if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) {
    return std::nullopt;
  }
  const auto value = static_cast<uint32_t>(call.arguments[2]);
  if ((value & FUTEX_WAITERS) != 0 && (value & FUTEX_TID_MASK) != 0) {
    return OwnerPlace{.word = kMutexOwner, .is_in_futex_too = true};
  }
  if (value == kMutexValue) return OwnerPlace{kMutexOwner};
  if (value == kWriterValue) {
    const uint64_t futex = call.arguments[0];
    return OwnerPlace{(RwLockOf(futex) + kWriterBytes - futex) /
                      sizeof(uint32_t)};
  }
  return std::nullopt;
}

bool IsHeldMutex(int64_t tid, const BlockedCall& call) {
  const auto place = PlaceOfOwner(call);
  if (!place) return false;
  // The kernel gives the number in the futex its meaning.
  if (place->word == 0 || place->is_in_futex_too) return true;
  LockWords words;
  if (place->word != kMutexOwner || !ReadWords(tid, call, words)) return false;
  const uint32_t users = words[kMutexUsers];
  const uint32_t kind = words[kMutexKind];
  return words[0] == kMutexValue && users > 0 && users <= kMostUsers &&
         (kind & ~kKindBits) == 0 &&
         (words[kMutexCount] == 0 || (kind & kTypeBits) == kRecursive);
}

bool IsOfOneProcess(const BlockedCall& call) {
  return (call.arguments[1] & FUTEX_PRIVATE_FLAG) != 0;
}

std::optional<uint32_t> ReadLockOwner(int64_t tid, const BlockedCall& call) {
  const auto place = PlaceOfOwner(call);
  if (!place) return std::nullopt;
  LockWords words;
  if (!ReadWords(tid, call, words)) return std::nullopt;
  const uint32_t owner = words[place->word] & place->mask;
  if (words[0] == 0 || owner == 0) return std::nullopt;
  // Locks of musl have EBUSY or a count there, and no owner.
  if (place->is_in_futex_too && (words[0] & FUTEX_TID_MASK) != owner) {
    return std::nullopt;
  }
  return owner;
}

}  // namespace kymo::off_cpu
