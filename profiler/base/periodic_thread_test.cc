#include "profiler/base/periodic_thread.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include <gtest/gtest.h>

#include "profiler/base/clock.h"

namespace kymo {
namespace {

void SleepMs(int ms) {
  const timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * kNsPerMs};
  nanosleep(&time, nullptr);
}

TEST(PeriodicThreadTest, CallsUntilItIsStopped) {
  std::atomic<int> calls = 0;
  PeriodicThread thread;
  const int64_t start_ns = MonotonicNs();
  ASSERT_EQ(thread.Start("test", 10 * kNsPerMs, [&] { ++calls; }), 0);
  while (calls < 10) SleepMs(1);
  thread.Stop();
  const int at_stop = calls;
  EXPECT_LE(at_stop, (MonotonicNs() - start_ns) / (10 * kNsPerMs));
  SleepMs(50);
  EXPECT_EQ(calls, at_stop);
}

bool IsBlocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(PeriodicThreadTest, TakesNoSignals) {
  std::atomic<int> blocked_and_called = 0;
  PeriodicThread thread;
  ASSERT_EQ(
      thread.Start("test", kNsPerMs,
                   [&] { blocked_and_called = IsBlocked(SIGUSR1) ? 2 : 1; }),
      0);
  while (blocked_and_called == 0) SleepMs(1);
  thread.Stop();
  EXPECT_EQ(blocked_and_called, 2);
  EXPECT_FALSE(IsBlocked(SIGUSR1));
}

TEST(PeriodicThreadTest, LateCallsAreLeftOut) {
  std::atomic<int> calls = 0;
  std::atomic<int64_t> first_end_ns = 0;
  PeriodicThread thread;
  ASSERT_EQ(thread.Start("test", 10 * kNsPerMs,
                         [&] {
                           if (++calls > 1) return;
                           SleepMs(200);
                           first_end_ns = MonotonicNs();
                         }),
            0);
  while (calls < 4) SleepMs(1);
  thread.Stop();
  // The first call hides 20 periods. A period after it, the next one begins.
  const int64_t rest_ns = MonotonicNs() - first_end_ns;
  EXPECT_LE(calls, 1 + rest_ns / (10 * kNsPerMs));
}

TEST(PeriodicThreadTest, TellsTheThreadThatItIs) {
  std::atomic<pid_t> tid = 0;
  PeriodicThread thread;
  ASSERT_EQ(thread.Start("test", kNsPerMs, [&] { tid = gettid(); }), 0);
  const pid_t told = thread.tid();
  while (tid == 0) SleepMs(1);
  EXPECT_EQ(told, tid);
}

}  // namespace
}  // namespace kymo
