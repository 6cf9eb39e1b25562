#include "profiler/analysis/statistics/change_points.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/analysis/statistics/run_speeds.h"

namespace kymo::analysis {
namespace {

std::vector<double> Noise(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(100 + static_cast<double>(random() % 1000) / 1000);
    if (random() % 20 == 0) values.back() *= 2;  // a wild run
  }
  return values;
}

TEST(ChangePointsTest, FindsTheRunAndTheSize) {
  std::vector<double> values = Noise(1, 40);
  for (size_t i = 25; i < 40; ++i) values[i] *= 1.05;
  const auto points = FindChangePoints(values, 0.05);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].first, 25u);
  EXPECT_NEAR(points[0].after / points[0].before, 1.05, 0.005);
  EXPECT_LT(points[0].p, 0.001);
}

TEST(ChangePointsTest, FindsChangesThereAndBack) {
  std::vector<double> values = Noise(2, 60);
  for (size_t i = 20; i < 40; ++i) values[i] *= 1.1;
  const auto points = FindChangePoints(values, 0.05);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_NEAR(static_cast<double>(points[0].first), 20, 1);
  EXPECT_NEAR(static_cast<double>(points[1].first), 40, 1);
}

TEST(ChangePointsTest, NoiseIsRarelyAChange) {
  int alarms = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    alarms += FindChangePoints(Noise(seed, 50), 0.05).empty() ? 0 : 1;
  }
  EXPECT_LT(alarms, 10);
}

TEST(ChangePointsTest, FourRunsOfFiftyAreEnoughAndTwoAreNot) {
  std::vector<double> values;
  for (int i = 0; i < 50; ++i) values.push_back(i * 7 % 50);
  for (int i = 46; i < 50; ++i) values[i] += 100;
  ASSERT_EQ(FindChangePoints(values, 0.05).size(), 1u);
  EXPECT_EQ(FindChangePoints(values, 0.05)[0].first, 46u);
  for (int i = 46; i < 48; ++i) values[i] -= 100;
  EXPECT_TRUE(FindChangePoints(values, 0.05).empty());
}

TEST(ChangePointsTest, StepsOfCountsAreSure) {
  const std::vector<double> values = {10, 10, 10, 11, 11, 11, 11, 11};
  const auto points = FindChangePoints(values, 0.0001, ValueKind::kCount);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].first, 3u);
  EXPECT_EQ(points[0].p, 0);
  // Counts that vary are tested as times are.
  const std::vector<double> noisy = {1, 2, 1, 3, 2, 1, 2, 3};
  EXPECT_TRUE(FindChangePoints(noisy, 0.05, ValueKind::kCount).empty());
  EXPECT_TRUE(FindChangePoints({}, 0.05).empty());
}

TEST(RunSpeedsTest, AreTheMediansOfRatios) {
  const std::vector<std::vector<double>> rows = {
      {10, 20, 10}, {5, 10, 5}, {1, 2, 9}};
  EXPECT_EQ(RunSpeeds(rows), (std::vector<double>{1, 2, 1}));
  EXPECT_TRUE(RunSpeeds({}).empty());
}

}  // namespace
}  // namespace kymo::analysis
