// thinned_curve.h - a long curve of steps, drawn with few points.
//
//   ThinnedCurve curve(trace.start_ns(), trace.end_ns(), 20'000);
//   curve.Add({.time = time_ns, .order = i, .value = bytes});
//   for (const CurvePoint& point : curve.Points()) Draw(point);
//
// A value holds from its point to the next one. Up to max_points points are all
// kept. If there are more, the window is cut into max_points / 3 slots of equal
// length. Each slot keeps its least, its greatest and its last point. So peaks
// stay visible, and the value that holds until the next slot is right.
//
// Points may come in any order: time, then `order`, decides which is later.
// Among equal values the earlier point is kept. Cost: constant per point, and
// memory for max_points points.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_THINNED_CURVE_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_THINNED_CURVE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kymo::analysis {

struct CurvePoint {
  int64_t time = 0;    // in the window's unit
  uint64_t order = 0;  // among points of one time
  int64_t value = 0;

  friend auto operator<=>(const CurvePoint&, const CurvePoint&) = default;
};

class ThinnedCurve {
 public:
  // Times outside of [begin, end] count in the nearest slot. REQUIRES: begin <=
  // end, max_points >= 3.
  ThinnedCurve(int64_t begin, int64_t end, size_t max_points);

  void Add(const CurvePoint& point);

  // By time and order.
  std::vector<CurvePoint> Points() const;

 private:
  struct Slot {
    bool is_used = false;
    CurvePoint least;
    CurvePoint greatest;
    CurvePoint last;
  };

  void AddToSlot(const CurvePoint& point);

  const int64_t begin_;
  const int64_t slot_length_;
  const size_t max_points_;
  std::vector<CurvePoint> all_;  // while there are at most max_points
  std::vector<Slot> slots_;      // afterwards
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_THINNED_CURVE_H_
