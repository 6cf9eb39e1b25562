// test_signal_storm.h - a thread that is interrupted again and again.
//
//   void Handler(int) { ... }
//   {
//     SignalStorm storm(Handler);
//     ... Handler runs here, every 20 us and more, wherever this thread is ...
//   }
//
// One at a time: it takes SIGUSR1, and gives it back.
#ifndef KYMO_TESTS_SUPPORT_TEST_SIGNAL_STORM_H_
#define KYMO_TESTS_SUPPORT_TEST_SIGNAL_STORM_H_

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace kymo {

class SignalStorm {
 public:
  // Sends signals to the calling thread.
  explicit SignalStorm(void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, &old_);
    sender_ = std::thread([this, target = pthread_self()] {
      while (!done_) {
        pthread_kill(target, SIGUSR1);
        usleep(20);
      }
    });
  }
  ~SignalStorm() {
    done_ = true;
    sender_.join();
    sigaction(SIGUSR1, &old_, nullptr);
  }
  SignalStorm(const SignalStorm&) = delete;
  SignalStorm& operator=(const SignalStorm&) = delete;

 private:
  struct sigaction old_;
  std::atomic<bool> done_ = false;
  std::thread sender_;
};

}  // namespace kymo

#endif  // KYMO_TESTS_SUPPORT_TEST_SIGNAL_STORM_H_
