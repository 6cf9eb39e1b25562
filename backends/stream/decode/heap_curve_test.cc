#include "backends/stream/decode/heap_curve.h"

#include <algorithm>
#include <random>
#include <string>
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

// The points that are kept of `all`: slots of 2^n ns, with n so that there are
// at most kMostSlots of them; of each slot the least, the greatest and the
// last.
std::vector<FoldedPoint> Thinned(const std::vector<FoldedPoint>& all) {
  const TimeNs first = all.front().time_ns;
  TimeNs slot_ns = 1;
  while ((all.back().time_ns - first) / slot_ns >=
         static_cast<TimeNs>(HeapCurve::kMostSlots)) {
    slot_ns *= 2;
  }
  std::vector<FoldedPoint> kept = {all.front()};
  const auto keep = [&](const FoldedPoint& point) {
    if (!(kept.back() == point)) kept.push_back(point);
  };
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin, least = begin, greatest = begin;
    const TimeNs slot = (all[begin].time_ns - first) / slot_ns;
    for (; end < all.size() && (all[end].time_ns - first) / slot_ns == slot;
         ++end) {
      if (all[end].bytes < all[least].bytes) least = end;
      if (all[end].bytes > all[greatest].bytes) greatest = end;
    }
    keep(all[std::min(least, greatest)]);
    keep(all[std::max(least, greatest)]);
    keep(all[end - 1]);
    begin = end;
  }
  return kept;
}

// Lengths on both sides of where slots begin and where they double.
TEST(HeapCurveTest, KeepsExactlyThePointsThatItSays) {
  constexpr int64_t kMost = HeapCurve::kMostPoints;
  constexpr int64_t kSlots = HeapCurve::kMostSlots;
  std::mt19937_64 random(5);
  for (const int64_t last : {kSlots, 2 * kSlots - 1, 2 * kSlots, 4 * kSlots - 1,
                             4 * kSlots, 100 * kSlots}) {
    for (const int64_t count : {kMost + 1, kMost + 2, 3 * kMost}) {
      SCOPED_TRACE(std::to_string(last) + ", " + std::to_string(count));
      HeapCurve curve;
      std::vector<FoldedPoint> all;
      for (int64_t i = 0; i < count; ++i) {
        // All values differ.
        const int64_t high = static_cast<int64_t>(random() % 1'000'000);
        all.push_back({777 + i * last / (count - 1), high * 1'000'000 + i});
        curve.Add(all.back().time_ns, all.back().bytes);
      }
      EXPECT_TRUE(curve.Points() == Thinned(all));
    }
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
