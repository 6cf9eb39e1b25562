#include "profiler/base/parallel.h"
#include "profiler/base/parallel_serial.h"
#include "profiler/base/parallel_sort.h"
#include "profiler/base/per_worker.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <tbb/task_arena.h>

#include "gtest/gtest.h"

// What a sanitizer maps is over any limit, and its mmap is not ours.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KYMO_TEST_FIRST_CALLS_ 1

// Whether the next thread that asks for memory stays here for ever.
constinit static std::atomic<bool> holds_thread = false;
constinit static std::atomic<bool> has_thread = false;

extern "C" void* mmap(void* address, size_t length, int protection, int flags,
                      int fd, off_t offset) noexcept {
  if (length >= size_t{1} << 20 && holds_thread.exchange(false)) {
    has_thread = true;
    for (;;) pause();
  }
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, length, protection, flags, fd, offset));
}
#endif

namespace kymo {
namespace {

TEST(ParallelTest, CoversEveryIndexOnce) {
  for (const size_t n : {size_t{0}, size_t{1}, size_t{999}, size_t{1000}}) {
    std::vector<std::atomic<int>> seen(n);
    ParallelFor(n, 100, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) ++seen[i];
    });
    for (const auto& count : seen) EXPECT_EQ(count, 1);
  }
}

TEST(ParallelTest, RangesDoNotDependOnTheNumberOfThreads) {
  auto ranges = [](int threads) {
    ParallelismLimit limit(threads);
    std::vector<std::pair<size_t, size_t>> result(
        ParallelRangeCount(1050, 100));
    ParallelFor(1050, 100, [&](size_t begin, size_t end) {
      result[begin / 100] = {begin, end};
    });
    return result;
  };
  EXPECT_EQ(ranges(1), ranges(4));
  EXPECT_EQ(ranges(1).back(), std::pair(size_t{1000}, size_t{1050}));
}

TEST(ParallelTest, ExceptionReachesTheCaller) {
  EXPECT_THROW(ParallelForEach(8,
                               [](size_t i) {
                                 if (i == 5) throw std::runtime_error("");
                               }),
               std::runtime_error);
}

#ifndef KYMO_PARALLEL_SERIAL_
// More threads than CPUs, so that they take each other's work.
TEST(ParallelTest, NoJobBeginsInsideOfAnother) {
  const ParallelismLimit limit(8);
  static thread_local int jobs_of_thread = 0;
  std::atomic<int> nested = 0;
  std::vector<std::atomic<size_t>> done(64);
  tbb::task_arena(8).execute([&] {
    ParallelJobs(done.size(), [&](size_t job) {
      if (++jobs_of_thread > 1) ++nested;
      ParallelForEach(20, [&](size_t i) {
        std::this_thread::sleep_for(std::chrono::microseconds(i * 10));
        ++done[job];
      });
      --jobs_of_thread;
    });
  });
  EXPECT_EQ(nested, 0);
  for (const auto& count : done) EXPECT_EQ(count, 20u);
}
#endif

TEST(ParallelTest, Sorts) {
  std::vector<int> values(10000);
  std::iota(values.rbegin(), values.rend(), 0);
  ParallelSort(values.begin(), values.end(), std::less<>());
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
}

TEST(ParallelTest, WorkersValuesHoldEverythingOnce) {
  PerWorker<size_t> sums([] { return size_t{0}; });
  ParallelFor(100'000, 1000, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) sums.Local() += i;
  });
  size_t sum = 0;
  sums.ForEach([&](size_t part) { sum += part; });
  EXPECT_EQ(sum, size_t{100'000} * 99'999 / 2);
}

#ifdef KYMO_TEST_FIRST_CALLS_
void ThrowIsExpectedWithoutMemory(void (*call)()) {
  const rlimit none = {.rlim_cur = 1, .rlim_max = 1};
  setrlimit(RLIMIT_AS, &none);
  try {
    call();
  } catch (const std::exception&) {  // no memory, or no thread
    _exit(7);
  }
  _exit(8);
}

TEST(ParallelDeathTest, TheFirstCallThrowsWhereThereIsNoMemory) {
  // In a new process, which has not called oneTBB yet.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(ThrowIsExpectedWithoutMemory(
                  [] { ParallelForEach(1000, [](size_t) {}); }),
              testing::ExitedWithCode(7), "");
  EXPECT_EXIT(ThrowIsExpectedWithoutMemory([] {
                static int values[100'000];
                ParallelSort(values, values + 100'000, std::less<>());
              }),
              testing::ExitedWithCode(7), "");
}

// A thread of oneTBB has 4 MiB of stack.
void RunWithRoomForNoThread() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  const rlim_t most = pages * getpagesize() + (7 << 20);
  const rlimit limit = {.rlim_cur = most, .rlim_max = most};
  setrlimit(RLIMIT_AS, &limit);
  std::atomic<size_t> sum = 0;
  ParallelForEach(1000, [&](size_t i) { sum += i; });
  _exit(sum == 499'500 ? 7 : 8);
}

TEST(ParallelDeathTest, WhereNoThreadCanStartItRunsAlone) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(RunWithRoomForNoThread(), testing::ExitedWithCode(7), "");
}

void ForkWithinTheFirstCall() {
  std::thread first([] {
    holds_thread = true;
    ParallelForEach(1000, [](size_t) {});
  });
  while (!has_thread) usleep(1000);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::atomic<size_t> sum = 0;
    const ParallelismLimit limit(2);
    ParallelForEach(1000, [&](size_t i) { sum += i; });
    Isolated([&] { ++sum; });
    std::vector<int> values(100'000);
    std::iota(values.rbegin(), values.rend(), 0);
    ParallelSort(values.begin(), values.end(), std::less<>());
    _exit(sum == 499'501 && std::is_sorted(values.begin(), values.end()) ? 7
                                                                         : 8);
  }
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
}

TEST(ParallelTest, AChildOfAProcessThatUsedOneTbbDoesNot) {
  ParallelForEach(1000, [](size_t) {});
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::atomic<size_t> alone = 0;
    std::thread([&] {
      ParallelForEach(1000, [&](size_t) {
        alone += tbb::this_task_arena::current_thread_index() ==
                 tbb::task_arena::not_initialized;
      });
    }).join();
    _exit(alone == 1000 ? 7 : 8);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 7);
}

TEST(ParallelDeathTest, AChildForkedWithinTheFirstCallDoesNotHang) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(ForkWithinTheFirstCall(), testing::ExitedWithCode(7), "");
}
#endif

}  // namespace
}  // namespace kymo
