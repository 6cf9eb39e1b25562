// change_points.h - where a row of numbers changed for good.
//
//   for (const ChangePoint& c : FindChangePoints(times, 0.05 / rows)) {
//     Print(c.first, c.before, c.after, 1 - c.p);
//   }
//
// The place with the largest rank-sum statistic splits the row in two. It
// counts if Wilcoxon's test of the two sides, times the number of places, is
// below `alpha`; then both sides are searched in turn. So no distribution is
// assumed, and one wild run is no change: with 50 runs, at least three must
// follow it.
//
// A count that is the same over long stretches needs no test: each step is a
// change, and its p is 0. A value of one run alone is no stretch.
#ifndef KYMO_PROFILER_ANALYSIS_STATISTICS_CHANGE_POINTS_H_
#define KYMO_PROFILER_ANALYSIS_STATISTICS_CHANGE_POINTS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace kymo::analysis {

struct ChangePoint {
  size_t first = 0;   // the first value that is different
  double before = 0;  // medians, to the next change on each side
  double after = 0;
  double p = 0;  // that values of one distribution look so, at any place
};

enum class ValueKind { kTime, kCount };

// Sorted by place. Cost: n log n, and one rank-sum test for each split.
std::vector<ChangePoint> FindChangePoints(std::span<const double> values,
                                          double alpha,
                                          ValueKind kind = ValueKind::kTime);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_STATISTICS_CHANGE_POINTS_H_
