#include "backends/off_cpu/sample_budget.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace kymo::off_cpu {
namespace {

constexpr uint64_t kMs = 1'000'000;

// Takes so many samples in each of 1,000 polls of 5 ms while it may. Returns
// how many that are.
int64_t TakeFor5Seconds(SampleBudget& budget, int in_5_ms) {
  int64_t taken = 0;
  bool is_open = true;
  for (uint64_t poll = 1; poll <= 1000; ++poll) {
    for (int i = 0; is_open && i < in_5_ms; ++i, ++taken) budget.Take();
    is_open = budget.Update(poll * 5 * kMs);
  }
  return taken;
}

TEST(SampleBudgetTest, RareSwitchesAreAllSampled) {
  SampleBudget budget;
  EXPECT_EQ(TakeFor5Seconds(budget, 80), 80'000);  // 16,000 a second
}

TEST(SampleBudgetTest, FrequentOnesAreBounded) {
  for (const int in_5_ms : {120, 500, 5000}) {
    SampleBudget budget;
    const int64_t taken = TakeFor5Seconds(budget, in_5_ms);
    EXPECT_LE(taken, 80'000 + SampleBudget::kMost + in_5_ms);
    EXPECT_GE(taken, 60'000);
  }
}

TEST(SampleBudgetTest, ABurstIsSampledAfterARest) {
  SampleBudget budget;
  for (int i = 0; i < SampleBudget::kMost; ++i) budget.Take();
  EXPECT_FALSE(budget.Update(0));
  EXPECT_FALSE(budget.Update(99 * kMs));
  EXPECT_TRUE(budget.Update(100 * kMs));
  EXPECT_TRUE(budget.Update(uint64_t{1} << 62));
}

}  // namespace
}  // namespace kymo::off_cpu
