#include "backends/cupti/target/flush_thread.h"

#include <time.h>
#include <unistd.h>

#include "backends/cupti/target/capture.h"
#include "profiler/base/signals_blocked.h"
#include "profiler/base/time.h"

namespace kymo::cupti {

void FlushThread::Start(unsigned pause_ms) noexcept {
  pause_ms_ = pause_ms;
  is_ending_ = false;
  // The parent's thread may have held the lock at the fork.
  lock_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&changed_, &attributes);
  pthread_condattr_destroy(&attributes);
  const SignalsBlocked blocked;
  const bool is_made = pthread_create(&thread_, nullptr, Run, this) == 0;
  pid_ = is_made ? getpid() : 0;
}

void FlushThread::Stop() noexcept {
  if (pid_ != getpid()) return;
  pthread_mutex_lock(&lock_);
  is_ending_ = true;
  pthread_cond_signal(&changed_);
  pthread_mutex_unlock(&lock_);
  pthread_join(thread_, nullptr);
  pid_ = 0;
}

void* FlushThread::Run(void* self) noexcept {
  FlushThread& thread = *static_cast<FlushThread*>(self);
  pthread_mutex_lock(&thread.lock_);
  while (thread.Sleep()) FlushCapture(FlushMode::kFinished);
  pthread_mutex_unlock(&thread.lock_);
  return nullptr;
}

bool FlushThread::Sleep() noexcept {
  timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  const int64_t ns = until.tv_nsec + int64_t{pause_ms_} * 1'000'000;
  until.tv_sec += ns / kNsPerSecond;
  until.tv_nsec = ns % kNsPerSecond;
  while (!is_ending_ &&
         pthread_cond_timedwait(&changed_, &lock_, &until) == 0) {
  }
  return !is_ending_;
}

}  // namespace kymo::cupti
