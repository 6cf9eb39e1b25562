// shrink_guard.h - memory of a file that somebody else may shorten.
//
//   ShrinkGuard guard(mapped, bytes);   // as long as the mapping lives
//
// Reading or writing a mapping behind the end of its file is SIGBUS, which
// would end the collector. Under a guard it finds zeros instead, from there to
// the end of the mapping; nothing else of the mapping changes.
//
// The first guard sets the process's handler of SIGBUS; what is no guard's goes
// to the handler that was there before.
//
// Threads: guards may be made and destroyed concurrently; kMostGuards at a
//   time, those beyond guard nothing.
#ifndef KYMO_BACKENDS_CPU_RAW_SHRINK_GUARD_H_
#define KYMO_BACKENDS_CPU_RAW_SHRINK_GUARD_H_

#include <cstddef>
#include <cstdint>

namespace kymo::cpu {

class ShrinkGuard {
 public:
  static constexpr size_t kMostGuards = 64;

  ShrinkGuard() noexcept = default;
  ShrinkGuard(const void* memory, uint64_t bytes);
  ShrinkGuard(ShrinkGuard&& other) noexcept;
  ShrinkGuard& operator=(ShrinkGuard&& other) noexcept;
  ~ShrinkGuard();

 private:
  size_t entry_ = kMostGuards;  // kMostGuards: guards nothing
};

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_RAW_SHRINK_GUARD_H_
