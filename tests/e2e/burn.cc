// burn.cc - burns CPU time in functions of known shares, or hangs; knows
// nothing of Kymo but in its mode `session`.
//
//   two       BurnThree and BurnOne, 3 : 1, about 0.8 s of CPU time
//   threads   BurnThread on two threads, about 0.4 s each
//   deadlock  two threads wait for each other's locks for a second
//   abandon   a thread waits for a second for a lock of one that has ended
//   fork      as does a forked process for one of a thread that it has not
//   session   records itself with kymo::Profile, and prints what that saw
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

#ifdef KYMO_BURN_SESSION
#include <iostream>

#include "kymo/profile.h"
#include "kymo/record_function.h"
#endif

namespace {

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

volatile uint64_t sink = 0;

// Long enough between two looks at the clock that the looks do not count.
inline __attribute__((always_inline)) void Spin() {
  for (int i = 0; i < 1'000'000; ++i) sink = sink * 31 + 7;
}

}  // namespace

__attribute__((noinline)) void BurnThree() {
  for (const double end = CpuSeconds() + 0.3; CpuSeconds() < end;) Spin();
}

__attribute__((noinline)) void BurnOne() {
  for (const double end = CpuSeconds() + 0.1; CpuSeconds() < end;) Spin();
}

__attribute__((noinline)) void BurnThread() {
  for (const double end = CpuSeconds() + 0.4; CpuSeconds() < end;) Spin();
}

std::mutex accounts;
std::mutex journal;
std::atomic<int> lockers{0};

__attribute__((noinline)) void LockBoth(std::mutex& first, std::mutex& second) {
  const std::lock_guard lock(first);
  ++lockers;
  while (lockers < 2) usleep(1000);
  const std::lock_guard never(second);
}

__attribute__((noinline)) void LockForEver() { journal.lock(); }

// Of a thread that keeps the lock until somebody else may have gone on.
__attribute__((noinline)) void LockAndSleep() {
  journal.lock();
  lockers = 1;
  sleep(2);
  journal.unlock();
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "two") == 0) {
    for (int i = 0; i < 2; ++i) {
      BurnThree();
      BurnOne();
    }
    return 0;
  }
  if (strcmp(mode, "threads") == 0) {
    std::thread other(BurnThread);
    BurnThread();
    other.join();
    return 0;
  }
  if (strcmp(mode, "deadlock") == 0) {
    std::thread([] { LockBoth(accounts, journal); }).detach();
    std::thread([] { LockBoth(journal, accounts); }).detach();
    while (lockers < 2) usleep(1000);
    sleep(1);
    _exit(0);
  }
  if (strcmp(mode, "abandon") == 0) {
    std::thread(LockForEver).join();
    std::thread(LockForEver).detach();
    sleep(1);
    _exit(0);
  }
  if (strcmp(mode, "fork") == 0) {
    std::thread(LockAndSleep).detach();
    while (lockers < 1) usleep(1000);
    const pid_t child = fork();
    if (child == 0) LockForEver();
    sleep(1);
    kill(child, SIGKILL);
    _exit(0);
  }
#ifdef KYMO_BURN_SESSION
  if (strcmp(mode, "session") == 0) {
    { kymo::RecordFunction range("outside"); }
    kymo::Profile profile;
    if (!profile.Start().ok()) return 1;
    for (int i = 0; i < 5000; ++i) kymo::RecordFunction range("in session");
    if (!profile.Stop().ok()) return 1;
    { kymo::RecordFunction range("outside"); }
    const kymo::KeyAverages averages = profile.key_averages();
    for (const kymo::FunctionEventAvg& row : averages) {
      std::cout << row.key << " " << row.count << "\n";
    }
    return 0;
  }
#endif
  fprintf(stderr, "burn: unknown mode '%s'\n", mode);
  return 2;
}
