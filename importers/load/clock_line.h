// clock_line.h - the line from a rank's clock to another one's, through what
// was measured.
//
//   const model::TimeMap map = MapToReference(its_points, points_of_rank_0);
//   shared_ns = map(time_ns);
//
// Threads: none.
#ifndef KYMO_IMPORTERS_LOAD_CLOCK_LINE_H_
#define KYMO_IMPORTERS_LOAD_CLOCK_LINE_H_

#include <cstdint>
#include <span>

#include "profiler/base/time.h"
#include "profiler/model/move_times.h"

namespace kymo {

// One measurement, as the instant `MPI clock` or `job clock` has it.
struct ClockPoint {
  TimeNs time_ns = 0;  // of the file, when it was recorded
  int64_t mono_ns = 0;
  int64_t offset_ns = 0;
  int64_t bound_ns = 0;
};

// By how much a clock has jumped against rank 0's between its first and its
// last measurement; 0: no more than clocks drift. REQUIRES: there is a point.
DurationNs JumpOf(std::span<const ClockPoint> points);

// The map from the times of a file to those of the reference's.
// REQUIRES: both have points.
model::TimeMap MapToReference(std::span<const ClockPoint> points,
                              std::span<const ClockPoint> reference);

}  // namespace kymo

#endif  // KYMO_IMPORTERS_LOAD_CLOCK_LINE_H_
