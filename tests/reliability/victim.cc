// A program that counts the ranges that it has finished, and then dies.
//
//   victim COUNTERS THREADS FIRST DELAY_US DEATH [ARGUMENT]
//
// THREADS threads record; each counts in a place of its own of the file
// COUNTERS (counters.h), from place FIRST on. After DELAY_US the main thread,
// which records too, dies in the middle of a range, as DEATH says:
//
//   wait       does nothing: somebody kills it
//   exit       leaves through _exit, but not before all threads together have
//              finished ARGUMENT ranges
//   abort      aborts
//   segv       writes where nothing is
//   exec       becomes another victim, which counts from FIRST + THREADS + 1 on
//              and leaves through _exit after another DELAY_US
//   memory     takes memory until there is none, in the cgroup whose list of
//              processes ARGUMENT is, or else up to 256 MiB more than it has
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "kymo/record_function.h"
#include "tests/reliability/counters.h"

namespace kymo::reliability {
namespace {

int64_t NowUs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000} + now.tv_nsec / 1000;
}

// Four ranges: records of one slot and of several.
void Work(Count& finished) {
  {
    RecordFunction outer("outer", {{"of", "the victim"}});
    for (int i = 0; i < 3; ++i) {
      { RecordFunction inner("inner"); }
      finished.Add(1);
    }
  }
  finished.Add(1);
}

void TakeAllMemory(const char* cgroup, Count& finished) {
  if (cgroup != nullptr) {
    FILE* const file = fopen(cgroup, "w");
    if (file == nullptr || fprintf(file, "%d", getpid()) < 0 ||
        fclose(file) != 0) {
      _exit(9);
    }
  } else {
    rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    long pages = 0;
    FILE* const file = fopen("/proc/self/statm", "r");
    if (file == nullptr || fscanf(file, "%ld", &pages) != 1) _exit(9);
    fclose(file);
    limit.rlim_cur = static_cast<rlim_t>(pages) * 4096 + (256u << 20);
    setrlimit(RLIMIT_AS, &limit);
  }
  for (;;) {
    Work(finished);
    constexpr size_t kBytes = size_t{1} << 20;
    void* const block = malloc(kBytes);
    if (block == nullptr) abort();
    memset(block, 1, kBytes);
    asm volatile("" : : "r"(block) : "memory");  // it is used
  }
}

struct Arguments {
  const char* program;
  const char* counters;
  int threads;
  int first;
  int64_t delay_us;
  std::string death;
  const char* more;  // or null
};

[[noreturn]] void Die(const Arguments& arguments, Count& finished) {
  const std::string& death = arguments.death;
  if (death == "exit") _exit(0);
  if (death == "abort") abort();
  if (death == "segv") {
    volatile int* nowhere = nullptr;
    asm volatile("" : "+r"(nowhere));
    *nowhere = 0;
  }
  if (death == "memory") TakeAllMemory(arguments.more, finished);
  if (death == "exec") {
    const std::string threads = std::to_string(arguments.threads);
    const std::string first =
        std::to_string(arguments.first + arguments.threads + 1);
    const std::string delay = std::to_string(arguments.delay_us);
    execl("/proc/self/exe", arguments.program, arguments.counters,
          threads.c_str(), first.c_str(), delay.c_str(), "exit", nullptr);
  }
  _exit(8);
}

// What the threads have finished together.
uint64_t Total(const SharedCounters& counters, const Arguments& arguments) {
  uint64_t total = 0;
  for (int i = 0; i <= arguments.threads; ++i) {
    total += counters.finished[arguments.first + i].value;
  }
  return total;
}

int Run(const Arguments& arguments) {
  SharedCounters* const counters = MapCounters(arguments.counters);
  if (counters == nullptr || arguments.first + arguments.threads >= kCounts) {
    fprintf(stderr, "victim: no counters\n");
    return 2;
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < arguments.threads; ++i) {
    threads.emplace_back([&finished = counters->finished[arguments.first + i]] {
      for (;;) Work(finished);
    });
  }
  const int64_t end_us = NowUs() + arguments.delay_us;
  counters->pid.store(getpid(), std::memory_order_release);
  Count& finished = counters->finished[arguments.first + arguments.threads];
  RecordFunction open("open at the end");
  const uint64_t least = arguments.death == "exit" && arguments.more != nullptr
                             ? strtoull(arguments.more, nullptr, 10)
                             : 0;
  while (arguments.death == "wait" || NowUs() < end_us ||
         Total(*counters, arguments) < least) {
    Work(finished);
  }
  Die(arguments, finished);
}

}  // namespace
}  // namespace kymo::reliability

int main(int argc, char** argv) {
  if (argc < 6) {
    fprintf(stderr,
            "usage: victim COUNTERS THREADS FIRST DELAY_US DEATH [ARGUMENT]\n");
    return 2;
  }
  return kymo::reliability::Run({.program = argv[0],
                                 .counters = argv[1],
                                 .threads = atoi(argv[2]),
                                 .first = atoi(argv[3]),
                                 .delay_us = atol(argv[4]),
                                 .death = argv[5],
                                 .more = argc > 6 ? argv[6] : nullptr});
}
