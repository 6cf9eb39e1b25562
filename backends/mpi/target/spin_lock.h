// spin_lock.h - a lock for tables that are written seldom and for moments.
//
//   constinit SpinLock lock;
//   const SpinLock::Held held(lock);
#ifndef KYMO_BACKENDS_MPI_TARGET_SPIN_LOCK_H_
#define KYMO_BACKENDS_MPI_TARGET_SPIN_LOCK_H_

#include <sched.h>

#include <atomic>

namespace kymo::mpi {

class SpinLock {
 public:
  class Held {
   public:
    explicit Held(SpinLock& lock) noexcept : lock_(lock) {
      while (lock_.taken_.exchange(true, std::memory_order_acquire)) {
        sched_yield();
      }
    }
    ~Held() { lock_.taken_.store(false, std::memory_order_release); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    SpinLock& lock_;
  };

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_SPIN_LOCK_H_
