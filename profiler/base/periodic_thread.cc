#include "profiler/base/periodic_thread.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "profiler/base/clock.h"
#include "profiler/base/signals_blocked.h"

namespace kymo {

int PeriodicThread::Start(const char* name, DurationNs period_ns,
                          std::function<void()> call) {
  period_ns_ = period_ns;
  call_ = std::move(call);
  sem_init(&started_, /*pshared=*/0, /*value=*/0);
  sem_init(&ending_, /*pshared=*/0, /*value=*/0);
  int error = 0;
  {
    const SignalsBlocked blocked;
    error = pthread_create(&thread_, nullptr, Run, this);
  }
  if (error != 0) return error;
  pid_ = getpid();
  pthread_setname_np(thread_, name);
  while (sem_wait(&started_) != 0) {  // EINTR
  }
  return 0;
}

void PeriodicThread::Stop() {
  if (pid_ != getpid()) return;
  sem_post(&ending_);
  pthread_join(thread_, nullptr);
  sem_destroy(&started_);
  sem_destroy(&ending_);
  pid_ = 0;
}

void* PeriodicThread::Run(void* self) {
  PeriodicThread& thread = *static_cast<PeriodicThread*>(self);
  thread.tid_ = gettid();
  sem_post(&thread.started_);
  int64_t next_ns = MonotonicNs() + thread.period_ns_;
  for (;;) {
    const timespec next = {.tv_sec = next_ns / kNsPerSecond,
                           .tv_nsec = next_ns % kNsPerSecond};
    if (sem_clockwait(&thread.ending_, CLOCK_MONOTONIC, &next) == 0) {
      return nullptr;
    }
    if (errno != ETIMEDOUT) continue;  // EINTR: the process was stopped
    thread.call_();
    next_ns += thread.period_ns_;
    const int64_t now_ns = MonotonicNs();
    if (next_ns <= now_ns) next_ns = now_ns + thread.period_ns_;
  }
}

}  // namespace kymo
