// test_waiter - a program that says how long its threads ran:
//   test_waiter FILE mix MS       "sleeper" sleeps a millisecond at a time, for
//                                 MS; "spinner" uses MS of CPU time
//   test_waiter FILE contend MS   two "spinner"s share one CPU
//   test_waiter FILE pingpong N   two threads on one CPU hand over N times
//   test_waiter FILE fork MS      a child uses MS of CPU time
//   test_waiter FILE exec MS      a thread that is not the main one becomes
//                                 `mix` while the main one is blocked; before,
//                                 it uses MS, and shares its CPU
//   test_waiter FILE kill MS      "spinner" uses MS; then the program kills
//                                 itself while "sleeper" is blocked
//   test_waiter FILE leave MS     a child sleeps for MS; the program ends first
// Each thread writes a line into FILE before it ends, by the kernel's clocks of
// threads: "NAME TID CPU_NS RUN_QUEUE_NS VOLUNTARY INVOLUNTARY".
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <thread>

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

void SleepNs(int64_t ns) {
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

// Near the end of a thread.
void Report(const char* name) {
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
      text, sizeof(text), "%s %ld %lld %lld %ld %ld\n", name,
      syscall(SYS_gettid), static_cast<long long>(Now(CLOCK_THREAD_CPUTIME_ID)),
      run_queue_ns, usage.ru_nvcsw, usage.ru_nivcsw);
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

void PingPong(int64_t count) {
  int to[2], fro[2];
  if (pipe(to) != 0 || pipe(fro) != 0) abort();
  BindToOneCpu();
  std::thread ping = Start("ping", [=] {
    char c = 0;
    for (int64_t i = 0; i < count; ++i) {
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

[[noreturn]] void Kill(int64_t ms) {
  std::thread sleeper = Start("sleeper", [] { Sleep(1'000'000); });
  std::thread spinner = Start("spinner", [=] { Spin(ms); });
  spinner.join();
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

int Run(const std::string& mode, int64_t count) {
  if (mode == "mix") Mix(count);
  if (mode == "pingpong") PingPong(count);
  if (mode == "kill") Kill(count);
  if (mode == "contend") {
    BindToOneCpu();
    std::thread other = Start("spinner", [=] { Spin(count); });
    Start("spinner", [=] { Spin(count); }).join();
    other.join();
  }
  if (mode == "fork") {
    if (fork() == 0) {
      Spin(count);
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
  if (mode == "leave") {
    if (fork() == 0) {
      SleepNs(count * kNsPerMs);
      _exit(0);
    }
    SleepNs(100 * kNsPerMs);  // the child sleeps by now
  }
  Report("main");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  g_program = argv[0];
  g_file = argv[1];
  return Run(argv[2], atoll(argv[3]));
}
