#include "backends/stream/decode/heap_curve.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

namespace kymo::stream {
namespace {

using model::FoldedPoint;

TEST(HeapCurveTest, FewPointsAreAllKept) {
  HeapCurve curve;
  std::vector<FoldedPoint> added;
  for (int64_t i = 0; i < static_cast<int64_t>(HeapCurve::kMostPoints); ++i) {
    added.push_back({1'000 + i / 2, i});  // two points at each time
    curve.Add(added.back().time_ns, added.back().bytes);
  }
  EXPECT_EQ(curve.Points(), added);
}

TEST(HeapCurveTest, ManyPointsKeepExtremesAndEnd) {
  constexpr int64_t kPoints = 1'000'000;
  HeapCurve curve;
  const auto value = [](int64_t i) -> int64_t {
    if (i == 123'456) return 1'000'000'000;
    if (i == 777'777) return -5;
    return (i + 7) * 7919 % 100'003;  // 0 is no extreme of its slot
  };
  for (int64_t i = 0; i < kPoints; ++i) curve.Add(50 + 10 * i, value(i));
  const std::vector<FoldedPoint> points = curve.Points();
  EXPECT_LE(points.size(), 3 * HeapCurve::kMostSlots);
  EXPECT_TRUE(std::is_sorted(
      points.begin(), points.end(),
      [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; }));
  for (const FoldedPoint& point : points) {
    ASSERT_EQ(point.bytes, value((point.time_ns - 50) / 10));
  }
  const auto has = [&](int64_t i) {
    return std::count(points.begin(), points.end(),
                      FoldedPoint{50 + 10 * i, value(i)});
  };
  EXPECT_EQ(points.front(), (FoldedPoint{50, value(0)}));
  EXPECT_EQ(has(123'456), 1);
  EXPECT_EQ(has(777'777), 1);
  EXPECT_EQ(has(kPoints - 1), 1);
  // No two neighbours are further apart than two slots of the coarsest kind.
  for (size_t i = 1; i < points.size(); ++i) {
    EXPECT_LE(
        points[i].time_ns - points[i - 1].time_ns,
        2 * 10 * kPoints / static_cast<int64_t>(HeapCurve::kMostSlots / 2));
  }
}

// Within a slot, the points stay in the order in which they came.
TEST(HeapCurveTest, TheGreatestPointMayComeBeforeTheLeast) {
  HeapCurve curve;
  for (int64_t i = 0; i < 100'000; ++i) {
    curve.Add(i, i % 1000 < 500 ? 1000 - i % 1000 : i % 1000);
  }
  const std::vector<FoldedPoint> points = curve.Points();
  EXPECT_TRUE(std::is_sorted(
      points.begin(), points.end(),
      [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; }));
}

}  // namespace
}  // namespace kymo::stream
