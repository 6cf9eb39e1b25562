#include "backends/off_cpu/look_budget.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace kymo::off_cpu {
namespace {

constexpr uint64_t kMs = 1'000'000;

// How many looks of that length a round takes that begins at `now_ns`.
int Round(LookBudget& budget, uint64_t now_ns, uint64_t look_ns) {
  budget.Begin(now_ns);
  int looks = 0;
  while (budget.MayLook()) {
    budget.Pay(now_ns += look_ns);
    ++looks;
  }
  return looks;
}

TEST(LookBudgetTest, SavedTimeIsForManyLooksTogether) {
  LookBudget budget;
  EXPECT_EQ(Round(budget, 10'000 * kMs, kMs / 10), 200);  // 20 ms
}

TEST(LookBudgetTest, LooksTakeOnePartOfTheTime) {
  LookBudget budget;
  Round(budget, 10'000 * kMs, kMs / 10);  // what was saved
  int looks = 0;
  for (uint64_t i = 1; i <= 10; ++i) {
    looks += Round(budget, (10'000 + i * 100) * kMs, kMs / 10);
  }
  EXPECT_EQ(looks, 400);  // 4 ms in each 100 ms
}

TEST(LookBudgetTest, ARoundMayAlwaysTakeSome) {
  LookBudget budget;
  Round(budget, 10'000 * kMs, kMs);
  EXPECT_EQ(Round(budget, 10'001 * kMs, 5 * kMs), LookBudget::kFewest);
}

TEST(LookBudgetTest, NoLookPaysForTheTimeBetweenRounds) {
  LookBudget budget;
  Round(budget, 10'000 * kMs, kMs);
  EXPECT_EQ(Round(budget, 10'600 * kMs, kMs), 20);
}

}  // namespace
}  // namespace kymo::off_cpu
