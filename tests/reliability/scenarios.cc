#include "tests/reliability/scenarios.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kymo/record_function.h"
#include "tests/reliability/thread_scenarios.h"

extern char** environ;

namespace kymo::reliability {
namespace {

void Ranges(Literal name, int64_t count) {
  for (int64_t i = 0; i < count; ++i) RecordFunction range(name);
}

// Waits, and ends this process if the child did not end well.
void Wait(pid_t pid) {
  int status = -1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) abort();
}

template <typename Work>
pid_t Fork(Work work) {
  const pid_t pid = fork();
  if (pid < 0) abort();
  if (pid == 0) {
    work();
    _exit(0);
  }
  return pid;
}

// Children are born while four threads record, hold locks and take chunks.
Expected ForkBesideThreads() {
  constexpr int kForks = 40;
  static constexpr int kRanges = 200;
  std::atomic<bool> done = false;
  std::array<int64_t, 4> counts = {};
  std::vector<std::thread> threads;
  for (int64_t& count : counts) {
    threads.emplace_back([&done, &count] {
      while (!done.load(std::memory_order_relaxed)) {
        Ranges("beside", 50);
        count += 50;
        usleep(100);
      }
    });
  }
  for (int i = 0; i < kForks; ++i) {
    Wait(Fork([] {
      Ranges("child", kRanges);
      std::thread([] { Ranges("thread of a child", kRanges); }).join();
    }));
  }
  done.store(true);
  int64_t beside = 0;
  for (std::thread& thread : threads) thread.join();
  for (const int64_t count : counts) beside += count;
  return {.own = {{"beside", beside}},
          .children = {{"child", kForks * kRanges},
                       {"thread of a child", kForks * kRanges}}};
}

// Children one after the other, each with a child of its own, within a range.
Expected ForkLoop() {
  constexpr int kForks = 100;
  for (int i = 0; i < kForks; ++i) {
    RecordFunction around("around fork");
    Wait(Fork([] {
      RecordFunction child("child");
      Wait(Fork([] { RecordFunction grandchild("grandchild"); }));
    }));
  }
  return {.own = {{"around fork", kForks}},
          .children = {{"child", kForks}, {"grandchild", kForks}}};
}

__attribute__((noinline)) pid_t StartTrue() {
  const pid_t pid = vfork();
  if (pid == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(127);
  }
  return pid;
}

Expected Vfork() {
  constexpr int kForks = 50;
  for (int i = 0; i < kForks; ++i) {
    RecordFunction around("around vfork");
    Wait(StartTrue());
    RecordFunction after("after vfork");
  }
  return {.own = {{"around vfork", kForks}, {"after vfork", kForks}}};
}

Expected Spawn() {
  constexpr int kChildren = 20;
  for (int i = 0; i < kChildren; ++i) {
    RecordFunction around("around spawn");
    char program[] = "leaf", mode[] = "leaf", count[] = "10";
    char* const words[] = {program, mode, count, nullptr};
    pid_t pid = 0;
    if (posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, words, environ) !=
        0) {
      abort();
    }
    Wait(pid);
  }
  return {.own = {{"around spawn", kChildren}},
          .children = {{"leaf", 10 * kChildren}}};
}

// A grandchild that nobody waits for, in a session of its own. It records while
// the program does, and goes on when nobody listens any more.
Expected Daemon() {
  static constexpr int kRanges = 1000;
  const pid_t program = getpid();
  int ready[2];
  if (pipe(ready) != 0) abort();
  Wait(Fork([&ready, program] {
    setsid();
    if (fork() != 0) return;
    for (const int fd : {0, 1, 2}) close(fd);
    Ranges("daemon", kRanges);
    if (write(ready[1], "", 1) != 1) abort();
    // Goes on for some time after the program's end.
    for (int left = 100; left > 0; left -= kill(program, 0) != 0) {
      Ranges("daemon later", 100);
      usleep(1000);
    }
    if (const char* const path = getenv("KYMO_DAEMON_WAS_HERE")) {
      close(open(path, O_CREAT | O_WRONLY, 0600));
    }
  }));
  char byte;
  if (read(ready[0], &byte, 1) != 1) abort();
  // How much it records until the program ends is not known.
  return {.children = {{"daemon", kRanges}}, .at_least = {{"daemon later", 0}}};
}

// A daemon that goes on starting and ending threads while the recording is
// read.
Expected DaemonWithThreads() {
  static constexpr int kRanges = 100;
  constexpr int kThreads = 50;
  const pid_t program = getpid();
  void* const shared =
      mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) abort();
  auto* const ended = new (shared) std::atomic<int>(0);
  Wait(Fork([ended, program] {
    setsid();
    if (fork() != 0) return;
    for (const int fd : {0, 1, 2}) close(fd);
    for (int left = 100; left > 0; left -= kill(program, 0) != 0) {
      std::thread([] { Ranges("brief", kRanges); }).join();
      ++*ended;
    }
  }));
  while (*ended < kThreads) usleep(100);
  return {.at_least = {{"brief", int64_t{kRanges} * *ended}}};
}

}  // namespace

const std::vector<Scenario>& Scenarios() {
  static const auto& scenarios = *new std::vector<Scenario>{
      {"fork_beside_threads", ForkBesideThreads},
      {"fork_loop", ForkLoop},
      {"vfork", Vfork},
      {"spawn", Spawn, /*starts_itself=*/true},
      {"daemon", Daemon},
      {"daemon_with_threads", DaemonWithThreads},
      {"short_lived_threads", ShortLivedThreads},
      {"threads_end_inside_ranges", ThreadsEndInsideRanges},
      {"cancelled_threads", CancelledThreads},
      {"exceptions", Exceptions},
      {"jumps", Jumps},
      {"coroutines", Coroutines},
      {"unloaded_libraries", UnloadedLibraries},
  };
  return scenarios;
}

void RunLeaf(long count) { Ranges("leaf", count); }

}  // namespace kymo::reliability
