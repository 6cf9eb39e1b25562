#include "backends/sampling/perf/rate_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <optional>

namespace kymo::sampling {
namespace {

constexpr uint64_t kMs = 1'000'000;

class RateWatchTest : public ::testing::Test {
 protected:
  // 50 samples of thread 7, before which it ran for 100 ms.
  void AddWindow(uint64_t waited_ms, uint64_t switches) {
    counts_.on_cpu_ns += 100 * kMs;
    counts_.waited_ns += waited_ms * kMs;
    counts_.times_on_cpu += switches;
    for (int i = 0; i < 50; ++i) watch_.OnSample(1, 7);
  }

  SchedulerCounts counts_;
  RateWatch watch_{[this](uint32_t pid, uint32_t tid) {
    EXPECT_EQ(pid, 1u);
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

TEST(SchedulerCountsTest, AreThoseOfAThread) {
  const auto pid = static_cast<uint32_t>(getpid());
  const auto counts = ReadSchedulerCounts(pid, pid);
  ASSERT_TRUE(counts.has_value());
  EXPECT_GT(counts->on_cpu_ns, 0u);
  EXPECT_GT(counts->times_on_cpu, 0u);
  EXPECT_FALSE(ReadSchedulerCounts(pid, 0).has_value());
}

}  // namespace
}  // namespace kymo::sampling
