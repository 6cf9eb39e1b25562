// target.cc - a program to be profiled: does what its first argument says.
//
//   ranges N          N ranges on the main thread, each inside "outer"
//   threads T N       T threads with N ranges each, one after the other
//   kill N            N ranges, reports on standard output, then kills itself
//                     with SIGKILL
//   fork N            N ranges in the parent and N in a forked child
//   fork_inside       a range around fork; the child leaves it, too
//   vfork             vfork + exec of `true`, ranges around it
//   exec N            N ranges, then exec of itself with `ranges N`
//   close_fds N       closes every descriptor, then N ranges
//   serve             numbered ranges, each with an allocation, until it is
//                     killed; prints "ready" after the first
//   wait_for_signal   prints "ready", ends with status 7 on SIGINT or SIGTERM
//   operations N      N matrix products of two shapes, from two functions,
//                     each with an allocation, in a module
//   recursion N       N ranges, each inside the one before
//   exit STATUS       ends with that status
//   signal NUMBER     dies of that signal
//   late N            N ranges on a thread while the main thread leaves
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "kymo/memory.h"
#include "kymo/record_function.h"

namespace {

void Ranges(long count) {
  KYMO_RECORD_FUNCTION("outer", {{"count", count}});
  for (long i = 0; i < count; ++i) {
    KYMO_RECORD_FUNCTION("inner");
  }
}

struct Matrix {
  int64_t sizes[2];
};
kymo::TensorMeta KymoInput(const Matrix& matrix) {
  return {.sizes = matrix.sizes, .dtype = kymo::DType::kFloat};
}

__attribute__((noinline)) void MatMul(const Matrix& a, const Matrix& b) {
  const auto inputs = kymo::Inputs(a, b);
  kymo::RecordFunction operation(
      "aten::mm",
      kymo::OperationInfo{.inputs = inputs, .overload_name = "out"});
  kymo::ReportMemoryUsage(&a, 4096);
}

__attribute__((noinline)) void SmallProduct() {
  MatMul({{8, 4}}, {{4, 8}});
  asm volatile("");
}
__attribute__((noinline)) void LargeProduct() {
  MatMul({{64, 32}}, {{32, 64}});
  asm volatile("");
}

void Operations(long count) {
  kymo::RecordModule module("net(Net).forward");
  for (long i = 0; i < count; ++i) {
    SmallProduct();
    LargeProduct();
  }
}

void Recursion(long depth) {
  if (depth == 0) return;
  KYMO_RECORD_FUNCTION("again");
  Recursion(depth - 1);
}

volatile sig_atomic_t got_signal = 0;
void OnSignal(int signal) { got_signal = signal; }

int WaitForSignal() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  for (bool said = false; got_signal == 0; said = true) {
    {
      KYMO_RECORD_FUNCTION("waiting");
      usleep(1000);
    }
    if (said) continue;
    printf("ready\n");
    fflush(stdout);
  }
  return 7;
}

[[noreturn]] void Serve() {
  for (long number = 0;; ++number) {
    {
      KYMO_RECORD_FUNCTION("request", {{"number", number}});
      void* block = malloc(1000);
      asm volatile("" : "+r"(block) : : "memory");
      free(block);
      usleep(200);
    }
    if (number != 0) continue;
    printf("ready\n");
    fflush(stdout);
  }
}

int Fork(long count) {
  const pid_t pid = fork();
  Ranges(count);
  if (pid == 0) {
    std::thread([count] { Ranges(count); }).join();
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status == 0 ? 0 : 1;
}

int ForkInside() {
  KYMO_RECORD_FUNCTION("around fork");
  const pid_t pid = fork();
  if (pid == 0) return 0;
  waitpid(pid, nullptr, 0);
  KYMO_RECORD_FUNCTION("after fork");
  return 0;
}

int Vfork() {
  KYMO_RECORD_FUNCTION("around vfork");
  const pid_t pid = vfork();
  if (pid == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(127);
  }
  waitpid(pid, nullptr, 0);
  Ranges(10);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const long number = argc > 2 ? atol(argv[2]) : 0;
  if (mode == "serve") {
    Serve();
  } else if (mode == "ranges") {
    Ranges(number);
  } else if (mode == "threads") {
    const long count = atol(argv[3]);
    for (long i = 0; i < number; ++i) {
      std::thread([i, count] {
        kymo::SetThreadName("worker " + std::to_string(i));
        Ranges(count);
      }).join();
    }
  } else if (mode == "kill") {
    kymo::RecordFunction open("open at the end");
    Ranges(number);
    printf("recorded %ld\n", number);
    fflush(stdout);
    kill(getpid(), SIGKILL);
  } else if (mode == "fork") {
    return Fork(number);
  } else if (mode == "fork_inside") {
    return ForkInside();
  } else if (mode == "vfork") {
    return Vfork();
  } else if (mode == "exec") {
    Ranges(number);
    execl(argv[0], argv[0], "ranges", argv[2], nullptr);
    return 1;
  } else if (mode == "close_fds") {
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    Ranges(number);
  } else if (mode == "wait_for_signal") {
    return WaitForSignal();
  } else if (mode == "operations") {
    Operations(number);
  } else if (mode == "recursion") {
    Recursion(number);
  } else if (mode == "exit") {
    return static_cast<int>(number);
  } else if (mode == "signal") {
    kill(getpid(), static_cast<int>(number));
    pause();
  } else if (mode == "late") {
    static std::atomic<bool> has_recorded{false};
    std::thread([number] {
      Ranges(1);
      has_recorded = true;
      Ranges(number);
    }).detach();
    while (!has_recorded) usleep(1000);
    usleep(20000);
  } else {
    fprintf(stderr, "target: unknown mode '%s'\n", mode.c_str());
    return 2;
  }
  return 0;
}
