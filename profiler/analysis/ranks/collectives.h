// collectives.h - who waited for whom in collective calls.
//
//   for (const CollectiveSum& sum : CollectiveSums(trace, calls)) ...
//
// The nth collective call of one communicator is the same operation in each of
// its ranks. No rank can complete it before the last one has entered: until
// then a rank waits for that one, and afterwards the call itself takes its
// time. That is Scalasca's "wait at NxN". For a call with a root (MPI_Bcast) it
// is an upper bound, since the others need not wait for each other.
//
// Clocks must be aligned (importers/load does so). A wait can be wrong by the
// bounds of the two ranks' clocks.
//
// Units: nanoseconds. Threads: values.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_COLLECTIVES_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_COLLECTIVES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/analysis/ranks/mpi_calls.h"

namespace kymo::analysis {

// The calls of one function of MPI on one communicator.
struct CollectiveSum {
  std::string name;
  int64_t comm = 0;
  int64_t operations = 0;   // each counts once
  int64_t incomplete = 0;   // of these: some rank's call is missing
  int64_t ranks = 0;        // that take part
  DurationNs total_ns = 0;  // of all ranks together, here and below
  DurationNs waiting_ns = 0;
  // The rank for which the others waited longest in all, and for how long.
  int64_t late_rank = -1;
  DurationNs late_ns = 0;
  // Operations in which it was the last.
  int64_t late_operations = 0;
  // For each of RankCalls::ranks, how long the others waited for it.
  std::vector<DurationNs> waited_for_ns;

  DurationNs transfer_ns() const { return total_ns - waiting_ns; }
};

// By waiting time, largest first.
std::vector<CollectiveSum> CollectiveSums(const model::Trace& trace,
                                          const RankCalls& calls);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_COLLECTIVES_H_
