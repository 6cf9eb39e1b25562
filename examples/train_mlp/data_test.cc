#include "examples/train_mlp/data.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"

namespace mlp {
namespace {

TEST(DataTest, EqualSeedsGiveEqualData) {
  const Dataset a = MakeMoons(64, 0.1, 7);
  const Dataset b = MakeMoons(64, 0.1, 7);
  EXPECT_EQ(a.points, b.points);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_NE(a.points, MakeMoons(64, 0.1, 8).points);
}

TEST(DataTest, WithoutNoisePointsLieOnTheMoons) {
  const Dataset data = MakeMoons(100, 0, 1);
  for (int64_t i = 0; i < 100; ++i) {
    const bool lower = data.labels[static_cast<size_t>(i)] == 1;
    const double x = data.points(i, 0) - (lower ? 1 : 0);
    const double y = data.points(i, 1) - (lower ? 0.5 : 0);
    EXPECT_NEAR(std::hypot(x, y), 1, 1e-12);
    EXPECT_GE(lower ? -y : y, 0);
  }
  EXPECT_EQ(std::count(data.labels.begin(), data.labels.end(), 1), 50);
}

TEST(DataTest, GatherKeepsPointAndLabelTogether) {
  const Dataset data = MakeMoons(10, 0.1, 1);
  const int64_t indices[] = {9, 0, 9};
  const Dataset batch = Gather(data, indices);
  ASSERT_EQ(batch.points.rows(), 3);
  EXPECT_EQ(batch.points(0, 1), data.points(9, 1));
  EXPECT_EQ(batch.points(1, 0), data.points(0, 0));
  EXPECT_EQ(batch.labels, (std::vector<int32_t>{1, 0, 1}));
}

TEST(DataTest, ShuffledIsAPermutation) {
  std::mt19937_64 random(3);
  std::vector<int64_t> order = Shuffled(1000, random);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(order[static_cast<size_t>(i)], i);
  }
}

TEST(DataTest, GaussianHasMeanZeroAndVarianceOne) {
  std::mt19937_64 random(5);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < 100000; ++i) {
    const double value = Gaussian(random);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 100000, 0, 0.02);
  EXPECT_NEAR(squares / 100000, 1, 0.02);
}

}  // namespace
}  // namespace mlp
