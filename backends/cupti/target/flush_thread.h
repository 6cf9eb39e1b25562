// flush_thread.h - takes finished activities from CUPTI, every so many ms.
//
//   static constinit FlushThread thread;
//   thread.Start(100);                    // ms
//   thread.Stop();                        // no flush runs any more
//
// It has three uses: a program that is killed loses little, threads that make
// few calls do not keep buffers for long, and clocks are paired often.
//
// The thread sleeps between flushes and takes no signal of the program.
//
// Threads: Start and Stop must not be called concurrently. A forked child does
//   not have the thread: Stop does nothing there, and Start starts a new one.
// Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_FLUSH_THREAD_H_
#define KYMO_BACKENDS_CUPTI_TARGET_FLUSH_THREAD_H_

#include <pthread.h>
#include <sys/types.h>

namespace kymo::cupti {

class FlushThread {
 public:
  constexpr FlushThread() noexcept = default;
  FlushThread(const FlushThread&) = delete;
  FlushThread& operator=(const FlushThread&) = delete;

  // If no thread can be created, nothing is flushed before the end.
  void Start(unsigned pause_ms) noexcept;
  // When it returns, no flush is running and none will begin.
  void Stop() noexcept;

 private:
  static void* Run(void* self) noexcept;
  // False if the thread is to end.
  bool Sleep() noexcept;

  pid_t pid_ = 0;  // the process that has the thread; 0 = none
  pthread_t thread_ = {};
  unsigned pause_ms_ = 0;
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // held while flushing
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  bool is_ending_ = false;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_FLUSH_THREAD_H_
