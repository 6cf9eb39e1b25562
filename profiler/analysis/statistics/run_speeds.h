// run_speeds.h - how much slower each run was as a whole.
//
//   const std::vector<double> speeds = RunSpeeds({{10, 20, 10}, {5, 10, 5}});
//   // {1, 2, 1}: the second run took twice as long
//
// The factor of a run is the median, over all rows, of a row's ratio to its own
// median. So rows that changed do not move it, if they are fewer than half.
#ifndef KYMO_PROFILER_ANALYSIS_STATISTICS_RUN_SPEEDS_H_
#define KYMO_PROFILER_ANALYSIS_STATISTICS_RUN_SPEEDS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace kymo::analysis {

// With fewer rows, "the rest of the run" is too little to compare a row with.
inline constexpr size_t kFewestRelative = 8;

// REQUIRES: all rows have one value for each run. 1 where no row tells.
std::vector<double> RunSpeeds(std::span<const std::vector<double>> rows);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_STATISTICS_RUN_SPEEDS_H_
