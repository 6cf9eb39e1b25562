#include "profiler/analysis/statistics/samples.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kymo::analysis {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

double RankOf(std::span<const double> all, double value) {
  double below = 0;
  for (const double other : all) below += other < value ? 1 : 0;
  return below + 1;
}

TEST(SamplesTest, Median) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(Median(std::vector<double>{4, 1, 2, 3}), 2.5);
}

TEST(SamplesTest, DeviationIgnoresAnOutlier) {
  const std::vector<double> values = {9, 10, 11, 10, 9, 11, 10, 500};
  EXPECT_NEAR(RobustDeviation(values), 1.4826, 1e-9);
}

TEST(SamplesTest, IntervalOfTheMedianHoldsItAndRepeats) {
  const std::vector<double> values = {10, 11, 12, 13, 14, 15, 16};
  const Interval interval = BootstrapMedian(values, 0.95);
  EXPECT_LT(interval.low, 13);
  EXPECT_GT(interval.high, 13);
  EXPECT_EQ(interval, BootstrapMedian(values, 0.95));
  EXPECT_EQ(BootstrapMedian(std::vector<double>{7}, 0.95), (Interval{7, 7}));
}

TEST(SamplesTest, IntervalOfAChange) {
  const std::vector<double> base = {100, 101, 99, 100, 100};
  const std::vector<double> head = {110, 111, 109, 110, 110};
  const Interval interval = BootstrapChange(base, head, 0.95);
  EXPECT_NEAR(interval.low, 0.09, 0.02);
  EXPECT_NEAR(interval.high, 0.11, 0.02);
}

// Textbook tables: of C(6, 3) = 20 ways to split, 2 are as far apart.
TEST(SamplesTest, RankSumIsExact) {
  const std::vector<double> low = {1, 2, 3};
  const std::vector<double> high = {4, 5, 6};
  EXPECT_DOUBLE_EQ(RankSumP(low, high), 0.1);
  EXPECT_DOUBLE_EQ(RankSumP(high, low), 0.1);
  // Sums of ranks 6 and 7, and their mirror images: 4 of 20.
  EXPECT_DOUBLE_EQ(
      RankSumP(std::vector<double>{1, 2, 4}, std::vector<double>{3, 5, 6}),
      0.2);
}

TEST(SamplesTest, RankSumOfEqualValues) {
  const std::vector<double> same = {5, 5, 5};
  EXPECT_EQ(RankSumP(same, same), 1);
  // {1, 1} of {1, 1, 2, 2}: 1 of 6 ways on each end.
  EXPECT_DOUBLE_EQ(
      RankSumP(std::vector<double>{1, 1}, std::vector<double>{2, 2}), 2.0 / 6);
}

// Of many values it is an approximation: dealing by chance tells the truth.
TEST(SamplesTest, RankSumOfManyIsNearlyTheExactOne) {
  std::vector<double> all;
  for (int i = 0; i < 60; ++i) all.push_back(i * 7 % 60);
  for (int i = 0; i < 60; ++i) all.push_back(i * 11 % 60 + 6.5);
  const auto distance = [&] {
    return std::abs(std::accumulate(all.begin(), all.begin() + 60, 0.0,
                                    [&](double sum, double value) {
                                      return sum + RankOf(all, value);
                                    }) -
                    60 * 121 / 2.0);
  };
  const double p = RankSumP(std::span(all).first(60), std::span(all).last(60));
  const double seen = distance();
  std::mt19937 random(1);
  int far = 0;
  for (int i = 0; i < 2000; ++i) {
    std::shuffle(all.begin(), all.end(), random);
    far += distance() >= seen ? 1 : 0;
  }
  EXPECT_NEAR(p, far / 2000.0, 0.015);
  EXPECT_GT(p, 0.01);
}

TEST(SamplesTest, HolmMultipliesByWhatIsLeft) {
  EXPECT_THAT(HolmAdjusted(std::vector<double>{0.04, 0.01, 0.03}),
              ElementsAre(DoubleEq(0.06), DoubleEq(0.03), DoubleEq(0.06)));
  EXPECT_THAT(HolmAdjusted(std::vector<double>{0.9, 0.8}), ElementsAre(1, 1));
}

}  // namespace
}  // namespace kymo::analysis
