// timer_table.h - the timers of all threads, so that any thread can delete them
// all.
//
//   uint32_t slot = 0;
//   if (!timers.Keep(timer, &slot)) timer_delete(timer);   // it is full
//   timers.Delete(slot);
//
// Threads: any, also in signal handlers. Whoever takes a timer out deletes it.
#ifndef KYMO_BACKENDS_SAMPLING_TARGET_TIMER_TABLE_H_
#define KYMO_BACKENDS_SAMPLING_TARGET_TIMER_TABLE_H_

#include <stdint.h>
#include <time.h>

#include <atomic>

namespace kymo::sampling {

class TimerTable {
 public:
  constexpr TimerTable() = default;

  // False if there are kMost.
  bool Keep(timer_t timer, uint32_t* slot) noexcept {
    for (uint32_t i = 0; i < kMost; ++i) {
      intptr_t expected = 0;
      if (timers_[i].load(std::memory_order_relaxed) != 0 ||
          !timers_[i].compare_exchange_strong(
              expected, reinterpret_cast<intptr_t>(timer) + 1)) {
        continue;
      }
      uint32_t used = used_.load();
      while (used <= i && !used_.compare_exchange_weak(used, i + 1)) {
      }
      *slot = i;
      return true;
    }
    return false;
  }

  // No system call if it was deleted before.
  void Delete(uint32_t slot) noexcept {
    const intptr_t timer = timers_[slot].exchange(0);
    if (timer != 0) timer_delete(reinterpret_cast<timer_t>(timer - 1));
  }
  void DeleteAll() noexcept {
    for (uint32_t i = 0; i < used_; ++i) Delete(i);
  }

  // In a forked child, which has none of them.
  void Forget() noexcept {
    for (uint32_t i = 0; i < used_; ++i) timers_[i] = 0;
    used_ = 0;
  }

 private:
  static constexpr uint32_t kMost = 8192;
  std::atomic<intptr_t> timers_[kMost] = {};  // plus 1; 0: free
  std::atomic<uint32_t> used_{0};             // slots, from the first one
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_TARGET_TIMER_TABLE_H_
