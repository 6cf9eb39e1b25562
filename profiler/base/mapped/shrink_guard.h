// shrink_guard.h - reads a mapped file safely if another process shortens it.
//
//   ShrinkGuard guard(mapped, bytes);   // as long as the mapping lives
//
// An access to a mapping behind the end of its file raises SIGBUS, which would
// end the collector. Under a guard it finds zeros instead, from there to the
// end of the mapping. The rest of the mapping does not change.
//
// The first guard sets the process's handler of SIGBUS. For a SIGBUS at an
// address without a guard it calls the previous handler. Guards stay in force
// if that one survives the signal.
//
// Threads: guards may be made and destroyed concurrently. There are at most
//   kMostGuards at a time; a further one guards nothing.
#ifndef KYMO_PROFILER_BASE_MAPPED_SHRINK_GUARD_H_
#define KYMO_PROFILER_BASE_MAPPED_SHRINK_GUARD_H_

#include <cstddef>
#include <cstdint>

namespace kymo {

class ShrinkGuard {
 public:
  static constexpr size_t kMostGuards = 64;

  ShrinkGuard() noexcept = default;
  ShrinkGuard(const void* memory, uint64_t bytes);
  ShrinkGuard(ShrinkGuard&& other) noexcept;
  ShrinkGuard& operator=(ShrinkGuard&& other) noexcept;
  ~ShrinkGuard();

  // False: an access behind the file's end ends the process.
  bool is_in_force() const noexcept { return entry_ != kMostGuards; }

 private:
  size_t entry_ = kMostGuards;  // kMostGuards: guards nothing
};

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_MAPPED_SHRINK_GUARD_H_
