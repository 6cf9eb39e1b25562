#include "profiler/base/parallel.h"
#include "profiler/base/parallel_sort.h"
#include "profiler/base/per_worker.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

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

// What a sanitizer maps is over any limit.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
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
#endif

}  // namespace
}  // namespace kymo
