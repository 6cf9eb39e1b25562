#include "backends/sampling/perf/rate_watch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "profiler/base/time.h"
#include "profiler/processes/schedstat.h"

namespace kymo::sampling {
namespace {

class RateWatchTest : public ::testing::Test {
 protected:
  // 50 samples of thread 7, before which it ran for 100 ms.
  void AddWindow(int64_t waited_ms, int64_t switches) {
    counts_.on_cpu_ns += 100 * kNsPerMs;
    counts_.waited_ns += waited_ms * kNsPerMs;
    counts_.times_on_cpu += switches;
    for (int i = 0; i < 50; ++i) watch_.OnSample(1, 7);
  }

  processes::SchedStat counts_;
  RateWatch watch_{[this](int64_t pid, int64_t tid) {
    EXPECT_EQ(pid, 1);
    return tid == 7 ? std::optional(counts_) : std::nullopt;
  }};
};

TEST_F(RateWatchTest, SwitchesOftenAndWaitsForACpu) {
  AddWindow(90, 2500);  // its counts before are not known
  EXPECT_FALSE(watch_.IsDue());
  AddWindow(90, 2500);
  EXPECT_TRUE(watch_.IsDue());
  AddWindow(90, 2500);
  AddWindow(90, 2500);
  EXPECT_FALSE(watch_.IsDue()) << "it says so once";
}

TEST_F(RateWatchTest, IsFineWhereACpuIsFree) {
  for (int i = 0; i < 5; ++i) AddWindow(12, 2500);
  EXPECT_FALSE(watch_.IsDue());
}

TEST_F(RateWatchTest, IsFineIfItComputes) {
  for (int i = 0; i < 5; ++i) AddWindow(300, 40);
  EXPECT_FALSE(watch_.IsDue());
}

TEST_F(RateWatchTest, OfAnotherThreadWithThatNumberCountsNothing) {
  AddWindow(90, 2500);
  watch_.OnThreadEnd(7);
  AddWindow(90, 2500);
  EXPECT_FALSE(watch_.IsDue());
}

TEST_F(RateWatchTest, OfAThreadThatIsGoneKnowsNothing) {
  for (int i = 0; i < 500; ++i) watch_.OnSample(1, 8);
  EXPECT_FALSE(watch_.IsDue());
}

}  // namespace
}  // namespace kymo::sampling
