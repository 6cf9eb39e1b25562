// signals_blocked.h - threads that take no signals of the program.
//
//   {
//     const SignalsBlocked blocked;
//     thread = std::thread(Run);  // begins with the mask of this thread
//   }
//
// Handlers of the program's signals must not run on a thread that the program
// does not know.
//
// Threads: changes the mask of the calling thread, until its scope ends.
#ifndef KYMO_PROFILER_BASE_SIGNALS_BLOCKED_H_
#define KYMO_PROFILER_BASE_SIGNALS_BLOCKED_H_

#include <pthread.h>
#include <signal.h>

namespace kymo {

class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_SIGNALS_BLOCKED_H_
