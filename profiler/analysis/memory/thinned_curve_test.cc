#include "profiler/analysis/memory/thinned_curve.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

std::vector<CurvePoint> Thin(const std::vector<CurvePoint>& points,
                             int64_t begin, int64_t end, size_t max_points) {
  ThinnedCurve curve(begin, end, max_points);
  for (const CurvePoint& point : points) curve.Add(point);
  return curve.Points();
}

std::vector<CurvePoint> RandomCurve(size_t n, int64_t end) {
  std::mt19937_64 random(7);
  std::vector<CurvePoint> points(n);
  for (size_t i = 0; i < n; ++i) {
    points[i] = {static_cast<int64_t>(random() % end), i,
                 static_cast<int64_t>(random() % 1'000)};
  }
  return points;
}

TEST(ThinnedCurveTest, FewPointsStayAsTheyAre) {
  EXPECT_THAT(Thin({{5, 1, 7}, {5, 0, 9}, {2, 2, 1}}, 0, 10, 3),
              ElementsAre(CurvePoint{2, 2, 1}, CurvePoint{5, 0, 9},
                          CurvePoint{5, 1, 7}));
}

TEST(ThinnedCurveTest, NothingGivesNothing) {
  EXPECT_TRUE(Thin({}, 0, 0, 3).empty());
}

TEST(ThinnedCurveTest, ASlotKeepsLeastGreatestAndLast) {
  EXPECT_THAT(
      Thin({{0, 0, 5}, {1, 1, 90}, {2, 2, 3}, {3, 3, 90}, {4, 4, 60}}, 0, 9, 3),
      ElementsAre(Field(&CurvePoint::time, 1), Field(&CurvePoint::time, 2),
                  Field(&CurvePoint::time, 4)));
}

TEST(ThinnedCurveTest, NeverMoreThanAskedAndExtremesStay) {
  const std::vector<CurvePoint> points = RandomCurve(10'000, 1'000'000);
  const std::vector<CurvePoint> thin = Thin(points, 0, 1'000'000, 300);
  EXPECT_LE(thin.size(), 300u);
  const auto by_value = [](const CurvePoint& a, const CurvePoint& b) {
    return a.value < b.value;
  };
  const auto [least, greatest] =
      std::minmax_element(points.begin(), points.end(), by_value);
  const auto [thin_least, thin_greatest] =
      std::minmax_element(thin.begin(), thin.end(), by_value);
  EXPECT_EQ(thin_least->value, least->value);
  EXPECT_EQ(thin_greatest->value, greatest->value);
  EXPECT_EQ(thin.back(), *std::max_element(points.begin(), points.end()));
}

TEST(ThinnedCurveTest, TheOrderOfAddingDoesNotMatter) {
  std::vector<CurvePoint> points = RandomCurve(5'000, 400);
  const std::vector<CurvePoint> thin = Thin(points, 0, 400, 90);
  std::shuffle(points.begin(), points.end(), std::mt19937_64(3));
  EXPECT_EQ(Thin(points, 0, 400, 90), thin);
}

TEST(ThinnedCurveTest, TimesOutsideOfTheWindowCountToItsEnds) {
  EXPECT_EQ(
      Thin({{-5, 0, 1}, {-5, 1, 1}, {99, 2, 1}, {99, 3, 1}}, 0, 9, 3).size(),
      2u);
}

}  // namespace
}  // namespace kymo::analysis
