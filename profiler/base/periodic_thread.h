// periodic_thread.h - calls a function every so often, on a thread of its own.
//
//   PeriodicThread thread;
//   const int error = thread.Start("reader", 100 * kNsPerMs, [&] { Read(); });
//   thread.Stop();                        // Read() runs no more
//
// Calls that are late (the machine was suspended, or the function takes longer
// than the period) are left out, not made up for. The thread takes no signal of
// the program.
//
// Threads: Start and Stop from one thread at a time. A forked child does not
//   have the thread: Stop and the destructor do nothing there.
#ifndef KYMO_PROFILER_BASE_PERIODIC_THREAD_H_
#define KYMO_PROFILER_BASE_PERIODIC_THREAD_H_

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>

#include <functional>

#include "profiler/base/time.h"

namespace kymo {

class PeriodicThread {
 public:
  PeriodicThread() = default;
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;
  ~PeriodicThread() { Stop(); }

  // The first call comes after one period. `call` must not throw. `name` is the
  // thread's, at most 15 characters. 0, or an errno: EAGAIN if there can be no
  // more threads.
  int Start(const char* name, DurationNs period_ns, std::function<void()> call);
  void Stop();

  // The kernel's number of the thread, after Start.
  pid_t tid() const noexcept { return tid_; }

 private:
  static void* Run(void* self);

  pid_t pid_ = 0;  // the process that has the thread; 0 = none
  pthread_t thread_ = {};
  // Not std::thread and a condition variable: their destructors wait, in a
  // forked child for ever.
  sem_t started_ = {};
  sem_t ending_ = {};
  pid_t tid_ = 0;
  DurationNs period_ns_ = 0;
  std::function<void()> call_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_PERIODIC_THREAD_H_
