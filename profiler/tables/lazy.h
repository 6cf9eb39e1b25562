// lazy.h - a value that its first reader makes.
//
//   Lazy<std::vector<int64_t>> sums;
//   const std::vector<int64_t>& s = sums.Get([&] { return Sum(trace); });
//
// Threads: any number may call Get; one of them makes the value, the others
//   wait for it. `make` must be the same in all calls.
// Cost: once the value is there, one load.
#ifndef KYMO_PROFILER_TABLES_LAZY_H_
#define KYMO_PROFILER_TABLES_LAZY_H_

#include <atomic>
#include <mutex>

#include "profiler/base/parallel.h"

namespace kymo::tables {

template <typename T>
class Lazy {
 public:
  template <typename Make>
  const T& Get(const Make& make) const {
    if (!is_made_.load(std::memory_order_acquire)) MakeOnce(make);
    return value_;
  }

 private:
  template <typename Make>
  [[gnu::noinline]] void MakeOnce(const Make& make) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_made_.load(std::memory_order_relaxed)) return;
    // Loops of `make` must not take tasks that wait for this lock.
    Isolated([&] { value_ = make(); });
    is_made_.store(true, std::memory_order_release);
  }

  mutable std::mutex mutex_;
  mutable std::atomic<bool> is_made_{false};
  mutable T value_;
};

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_LAZY_H_
