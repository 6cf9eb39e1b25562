// test_waiter - a program that says how long its threads ran:
//   test_waiter FILE mix MS       "sleeper" sleeps a millisecond at a time, for
//                                 MS; "spinner" uses MS of CPU time
//   test_waiter FILE contend MS   two "spinner"s share one CPU
//   test_waiter FILE pingpong N   two threads on one CPU hand over N times
//   test_waiter FILE handover N   the same by a condition, not by pipes
//   test_waiter FILE paced N      the same; before each 2,000 hand-overs, it
//                                 reads a byte that was written since the last
//   test_waiter FILE fork MS      a child uses MS of CPU time
//   test_waiter FILE exec MS      a thread that is not the main one becomes
//                                 `mix` while the main one is blocked; before,
//                                 it uses MS, and shares its CPU
//   test_waiter FILE kill MS      "spinner" uses MS; then the program kills
//                                 itself while "sleeper" is blocked
//   test_waiter FILE leave MS     a child sleeps for MS; the program ends first
//   test_waiter FILE last MS      the program sleeps for MS, becomes another,
//                                 sleeps for 20 ms, and ends at once
//   test_waiter FILE waits N      "waiter" waits N times for a lock, a pipe and
//                                 a time, and tells in FILE.waits how long:
//                                 "LOCK_NS PIPE_NS TIME_NS", and how often it
//                                 was interrupted
//   test_waiter FILE locks N      "sleeper" and "spinner" take a lock N times
//                                 each, sleep or spin with it, and so do
//                                 "victim"s; FILE.holds tells who had it:
//                                 "TID BEGIN_NS UNLOCK_NS UNLOCKED_NS
//                                 FUNCTION"
//   test_waiter FILE stop MS      a child stops itself for MS, then it sleeps
//                                 for MS; the program waits for its end
//   test_waiter FILE share N      the program and a child take a lock that they
//                                 share N times each, and sleep with it for
//                                 20 ms
//   test_waiter FILE barrier MS   a thread waits for MS at g_barrier
// Each thread writes a line into FILE before it ends, by the kernel's clocks of
// threads: "NAME TID CPU_NS RUN_QUEUE_NS VOLUNTARY INVOLUNTARY NOW_NS". NOW_NS
// is CLOCK_MONOTONIC, read before the others. A main thread also writes a line
// named "begin" as the first thing that it does.
//
// Long, because one program has all ways to wait.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/test_threads.h"

namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kNsPerSecond = 1'000'000'000;
const char* g_file;
const char* g_program;

int64_t Now(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
}

// Tests look for it in stacks.
__attribute__((noinline)) void SleepNs(int64_t ns) {
  const timespec time = {ns / kNsPerSecond, ns % kNsPerSecond};
  nanosleep(&time, nullptr);
}

void Spin(int64_t ms) {
  const int64_t end_ns = Now(CLOCK_THREAD_CPUTIME_ID) + ms * kNsPerMs;
  volatile uint64_t value = 1;
  while (Now(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
    for (int i = 0; i < 10'000; ++i) value = value * 3 + 1;
  }
}

void Sleep(int64_t ms) {
  const int64_t end_ns = Now(CLOCK_MONOTONIC) + ms * kNsPerMs;
  while (Now(CLOCK_MONOTONIC) < end_ns) SleepNs(kNsPerMs);
}

void BindToOneCpu() {
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof(cpus), &cpus);
  int first = 0;
  while (!CPU_ISSET(first, &cpus)) ++first;
  CPU_ZERO(&cpus);
  CPU_SET(first, &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
}

// As the first or the last thing that a thread does.
void Report(const char* name) {
  const long long now_ns = Now(CLOCK_MONOTONIC);
  long long run_queue_ns = 0;
  const int fd = open("/proc/thread-self/schedstat", O_RDONLY);
  char text[128] = {};
  if (read(fd, text, sizeof(text) - 1) > 0) {
    sscanf(text, "%*s %lld", &run_queue_ns);
  }
  close(fd);
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  const int out = open(g_file, O_WRONLY | O_APPEND | O_CREAT, 0600);
  const int size = snprintf(
      text, sizeof(text), "%s %ld %lld %lld %ld %ld %lld\n", name,
      syscall(SYS_gettid), static_cast<long long>(Now(CLOCK_THREAD_CPUTIME_ID)),
      run_queue_ns, usage.ru_nvcsw, usage.ru_nivcsw, now_ns);
  if (write(out, text, static_cast<size_t>(size)) != size) abort();
  close(out);
}

template <typename Work>
std::thread Start(const char* name, Work work) {
  return std::thread([name, work] {
    pthread_setname_np(pthread_self(), name);
    work();
    Report(name);
  });
}

void Mix(int64_t ms) {
  std::thread sleeper = Start("sleeper", [=] { Sleep(ms); });
  std::thread spinner = Start("spinner", [=] { Spin(ms); });
  sleeper.join();
  spinner.join();
}

// Reads a byte of the standard input that nobody has written yet.
void AwaitByte() {
  char bytes[64];
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  while (poll(&input, 1, 0) == 1 && read(input.fd, bytes, 64) > 0) {
  }
  if (read(input.fd, bytes, 1) != 1) abort();
}

void PingPong(int64_t count, bool is_paced) {
  int to[2], fro[2];
  if (pipe(to) != 0 || pipe(fro) != 0) abort();
  BindToOneCpu();
  std::thread ping = Start("ping", [=] {
    char c = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (is_paced && i % 2'000 == 0) AwaitByte();
      if (write(to[1], &c, 1) != 1 || read(fro[0], &c, 1) != 1) abort();
    }
  });
  std::thread pong = Start("pong", [=] {
    char c = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (read(to[0], &c, 1) != 1 || write(fro[1], &c, 1) != 1) abort();
    }
  });
  ping.join();
  pong.join();
}

void HandOver(int64_t count) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  int turn = 0;
  const auto work = [&](int own) {
    for (int64_t i = 0; i < count; ++i) {
      pthread_mutex_lock(&mutex);
      while (turn != own) pthread_cond_wait(&condition, &mutex);
      turn = 1 - own;
      pthread_mutex_unlock(&mutex);
      pthread_cond_signal(&condition);
    }
  };
  BindToOneCpu();
  std::thread ping = Start("ping", [&] { work(0); });
  std::thread pong = Start("pong", [&] { work(1); });
  ping.join();
  pong.join();
}

pthread_mutex_t g_waiter_mutex = PTHREAD_MUTEX_INITIALIZER;

struct Waiter {
  pthread_mutex_t& mutex = g_waiter_mutex;
  int to[2];
  int fro[2];
  int64_t lock_ns = 0;
  int64_t pipe_ns = 0;
  int64_t time_ns = 0;
  int interrupted = 0;

  void Read(int fd) {
    char c;
    while (read(fd, &c, 1) != 1) interrupted += errno == EINTR;
  }
  static void Write(int fd) {
    const char c = 0;
    if (write(fd, &c, 1) != 1) abort();
  }
};

template <typename Work>
void AddTime(int64_t& sum_ns, Work work) {
  const int64_t begin_ns = Now(CLOCK_MONOTONIC);
  work();
  sum_ns += Now(CLOCK_MONOTONIC) - begin_ns;
}

__attribute__((noinline)) void WaitForLock(Waiter& waiter) {
  AddTime(waiter.lock_ns, [&] { pthread_mutex_lock(&waiter.mutex); });
  pthread_mutex_unlock(&waiter.mutex);
}

__attribute__((noinline)) void WaitForPipe(Waiter& waiter) {
  AddTime(waiter.pipe_ns, [&] { waiter.Read(waiter.to[0]); });
}

__attribute__((noinline)) void WaitForTime(Waiter& waiter, int64_t ns) {
  const timespec time = {0, ns};
  AddTime(waiter.time_ns, [&] {
    if (nanosleep(&time, nullptr) != 0) ++waiter.interrupted;
  });
}

// For each 60 ns of the lock 25 of the pipe and 15 of the time.
void Waits(int64_t count) {
  constexpr int64_t kUnitNs = 6 * kNsPerMs;
  Waiter waiter;
  if (pipe(waiter.to) != 0 || pipe(waiter.fro) != 0) abort();
  std::thread thread = Start("waiter", [&] {
    for (int64_t i = 0; i < count; ++i) {
      WaitForPipe(waiter);
      WaitForLock(waiter);
      WaitForPipe(waiter);
      WaitForTime(waiter, 15 * kUnitNs);
      Waiter::Write(waiter.fro[1]);
    }
  });
  for (int64_t i = 0; i < count; ++i) {
    pthread_mutex_lock(&waiter.mutex);
    Waiter::Write(waiter.to[1]);
    SleepNs(60 * kUnitNs);
    pthread_mutex_unlock(&waiter.mutex);
    SleepNs(25 * kUnitNs);
    Waiter::Write(waiter.to[1]);
    waiter.Read(waiter.fro[0]);
  }
  thread.join();
  FILE* const file = fopen((std::string(g_file) + ".waits").c_str(), "w");
  fprintf(file, "%lld %lld %lld %d\n", static_cast<long long>(waiter.lock_ns),
          static_cast<long long>(waiter.pipe_ns),
          static_cast<long long>(waiter.time_ns), waiter.interrupted);
  fclose(file);
}

// A lock that knows who had it.
struct Held {
  struct Hold {
    long tid;
    int64_t begin_ns;
    int64_t unlock_ns;  // it gives the lock back between these two
    int64_t unlocked_ns;
    const char* function;
  };

  // Calls `work` with the lock. A look follows a stack up to the first frame
  // pointer, which every function has here. So it sees who had the lock only if
  // that function itself is the one that calls the C library.
  template <typename Work>
  __attribute__((always_inline)) void With(const char* function, Work work) {
    pthread_mutex_lock(&mutex);
    const int64_t begin_ns = Now(CLOCK_MONOTONIC);
    work();
    Hold& hold = holds.emplace_back(
        Hold{syscall(SYS_gettid), begin_ns, Now(CLOCK_MONOTONIC), 0, function});
    pthread_mutex_unlock(&mutex);
    hold.unlocked_ns = Now(CLOCK_MONOTONIC);
    asm volatile("");  // no tail call: the function stays on the stack
  }

  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::deque<Hold> holds;  // a hold stays where it is
};

__attribute__((noinline)) void HoldAsleep(Held& held, int64_t ms) {
  const timespec time = {0, ms * kNsPerMs};
  held.With("HoldAsleep", [&] { nanosleep(&time, nullptr); });
}

__attribute__((noinline)) void HoldBusy(Held& held, int64_t ms) {
  held.With("HoldBusy", [&] { Spin(ms); });
}

__attribute__((noinline)) void HoldShortly(Held& held) {
  held.With("HoldShortly", [] {});
}

void Locks(int64_t count) {
  Held held;
  std::atomic<bool> is_done = false;
  const auto work = [&](void (*hold)(Held&, int64_t)) {
    for (int64_t i = 0; i < count; ++i) {
      hold(held, i % 3 == 0 ? 25 : 2 + i % 7);
      SleepNs(3 * kNsPerMs);
    }
  };
  std::thread sleeper = Start("sleeper", [&] { work(HoldAsleep); });
  std::thread spinner = Start("spinner", [&] { work(HoldBusy); });
  std::vector<std::thread> victims;
  for (int i = 0; i < 3; ++i) {
    victims.push_back(Start("victim", [&] {
      while (!is_done) {
        HoldShortly(held);
        SleepNs(kNsPerMs);
      }
    }));
  }
  sleeper.join();
  spinner.join();
  is_done = true;
  for (std::thread& victim : victims) victim.join();
  FILE* const file = fopen((std::string(g_file) + ".holds").c_str(), "w");
  for (const Held::Hold& hold : held.holds) {
    fprintf(file, "%ld %lld %lld %lld %s\n", hold.tid,
            static_cast<long long>(hold.begin_ns),
            static_cast<long long>(hold.unlock_ns),
            static_cast<long long>(hold.unlocked_ns), hold.function);
  }
  fclose(file);
}

void Stop(int64_t ms) {
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    SleepNs(ms * kNsPerMs);
    _exit(0);
  }
  siginfo_t info;  // an earlier SIGCONT would have no effect
  if (waitid(P_PID, child, &info, WSTOPPED | WNOWAIT) != 0) abort();
  SleepNs(ms * kNsPerMs);
  kill(child, SIGCONT);
  if (waitpid(child, nullptr, 0) != child) abort();
}

void Share(int64_t count) {
  void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) abort();
  auto* const mutex = static_cast<pthread_mutex_t*>(memory) + 1;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(mutex, &attributes);
  const pid_t child = fork();
  for (int64_t i = 0; i < count; ++i) {
    pthread_mutex_lock(mutex);
    SleepNs(20 * kNsPerMs);
    pthread_mutex_unlock(mutex);
    SleepNs(kNsPerMs);  // so that the other process gets it
  }
  if (child == 0) _exit(0);
  if (waitpid(child, nullptr, 0) != child) abort();
}

pthread_barrier_t g_barrier;

void Barrier(int64_t ms) {
  pthread_barrier_init(&g_barrier, nullptr, 2);
  std::thread waiter =
      Start("waiter", [] { pthread_barrier_wait(&g_barrier); });
  SleepNs(ms * kNsPerMs);
  pthread_barrier_wait(&g_barrier);
  waiter.join();
}

[[noreturn]] void Kill(int64_t ms) {
  std::thread sleeper = Start("sleeper", [] { Sleep(1'000'000); });
  std::thread spinner = Start("spinner", [=] { Spin(ms); });
  spinner.join();
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

int Run(const std::string& mode, int64_t count) {
  if (mode == "mix") Mix(count);
  if (mode == "pingpong") PingPong(count, /*is_paced=*/false);
  if (mode == "handover") HandOver(count);
  if (mode == "paced") PingPong(count, /*is_paced=*/true);
  if (mode == "kill") Kill(count);
  if (mode == "waits") Waits(count);
  if (mode == "locks") Locks(count);
  if (mode == "stop") Stop(count);
  if (mode == "barrier") Barrier(count);
  if (mode == "share") Share(count);
  if (mode == "contend") {
    BindToOneCpu();
    std::thread other = Start("spinner", [=] { Spin(count); });
    Start("spinner", [=] { Spin(count); }).join();
    other.join();
  }
  if (mode == "fork") {
    if (fork() == 0) {
      Spin(count);
      // Looks at what it used come with every few polls.
      for (int polls = 0; polls < 20; ++polls) AwaitByte();
      Report("child");
      _exit(0);
    }
    wait(nullptr);
  }
  if (mode == "exec") {
    BindToOneCpu();
    std::thread([=] { Spin(100 * count); }).detach();
    std::thread([=] {
      Spin(count);
      const std::string text = std::to_string(count);
      execl(g_program, g_program, g_file, "mix", text.c_str(), nullptr);
      abort();
    }).detach();
    for (;;) pause();
  }
  if (mode == "last") {
    SleepNs(count * kNsPerMs);
    execl(g_program, g_program, g_file, "end", "20", nullptr);
  }
  if (mode == "end") {
    SleepNs(count * kNsPerMs);
    _exit(0);
  }
  if (mode == "leave") {
    const pid_t child = fork();
    if (child == 0) {
      SleepNs(count * kNsPerMs);
      _exit(0);
    }
    if (!kymo::AwaitState(child, 'S')) abort();
    SleepNs(100 * kNsPerMs);
  }
  Report("main");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  g_program = argv[0];
  g_file = argv[1];
  Report("begin");
  return Run(argv[2], atoll(argv[3]));
}
