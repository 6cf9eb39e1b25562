// flush_thread.h - takes from CUPTI what has finished, now and then.
//
//   static constinit FlushThread thread;
//   thread.Start(100);                    // ms
//   thread.Stop();                        // nothing is flushed any more
//
// So that a program that is killed loses little, that threads which make few
// calls do not sit on buffers, and that clocks are paired often.
//
// A guest: the thread sleeps between flushes and takes no signal.
//
// Threads: Start and Stop are not called concurrently. In a forked child there
//   is no such thread: Stop does nothing, and it may be started anew.
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

  // Without a thread to be had, nothing is flushed before the end.
  void Start(unsigned pause_ms) noexcept;
  // When it returns, no flush is running and none will begin.
  void Stop() noexcept;

 private:
  static void* Run(void* self) noexcept;
  // False when it is to end.
  bool Sleep() noexcept;

  pid_t pid_ = 0;  // of the process that has the thread; 0 = none
  pthread_t thread_ = {};
  unsigned pause_ms_ = 0;
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // held while flushing
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  bool is_ending_ = false;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_FLUSH_THREAD_H_
