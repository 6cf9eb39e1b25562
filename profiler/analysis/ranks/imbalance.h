// imbalance.h - how unevenly ranks spend their time.
//
//   for (const RankTimes& rank : TimesOfRanks(trace, calls)) ...
//   for (const Imbalance& name : ImbalanceByName(trace, calls)) ...
//
// Units: nanoseconds. Threads: values.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_IMBALANCE_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_IMBALANCE_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/analysis/ranks/mpi_calls.h"

namespace kymo::analysis {

// Where one rank was between MPI_Init and MPI_Finalize. The times of calls are
// added up over the rank's threads, so with several they may exceed the wall;
// in_mpi_ns does not.
struct RankTimes {
  size_t rank = 0;  // into RankCalls::ranks
  DurationNs wall_ns = 0;
  DurationNs collective_ns = 0;      // without MPI: of kernels of devices
  DurationNs point_to_point_ns = 0;  // with MPI_Wait and its like
  DurationNs other_mpi_ns = 0;
  DurationNs in_mpi_ns = 0;  // at least one of its threads was
  int64_t calls = 0;
  int64_t sent_bytes = 0;  // point to point
};

// In the order of RankCalls::ranks.
std::vector<RankTimes> TimesOfRanks(const model::Trace& trace,
                                    const RankCalls& calls);

// The total time of the name of a range, or of a phase (MPI_Pcontrol), in each
// rank.
struct Imbalance {
  std::string name;
  int64_t ranks = 0;       // that have the name
  DurationNs mean_ns = 0;  // over all ranks; those without it count as 0
  DurationNs least_ns = 0;
  int64_t least_rank = 0;
  DurationNs most_ns = 0;
  int64_t most_rank = 0;
  // The nth range of one rank and those of the others are step n; 0: not all
  // ranks have the same number of them, or there is only one.
  int64_t steps = 0;
  DurationNs step_excess_ns = 0;  // the slowest rank's of each step, added up
  int64_t worst_step = 0;         // counts from 1
  DurationNs worst_step_excess_ns = 0;
  int64_t worst_step_rank = 0;

  // How much less the slowest rank would take if all took the same.
  DurationNs excess_ns() const { return most_ns - mean_ns; }
  // The same if the ranks wait for one another in each step: then one that is
  // slow once and another one later take time twice.
  DurationNs lost_ns() const { return std::max(excess_ns(), step_excess_ns); }
};

// Ranges that enclose all of a rank's work differ by nothing but their start,
// so what matters comes first: by lost time, largest first. Ranges of MPI and
// those within themselves (a recursion) are left out.
std::vector<Imbalance> ImbalanceByName(const model::Trace& trace,
                                       const RankCalls& calls);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_IMBALANCE_H_
