// collectives.h - who waited for whom in collective calls.
//
//   for (const CollectiveSum& sum : CollectiveSums(job)) ...
//
// The nth collective call of one communicator is the same operation in each of
// its ranks. No rank can complete it before the last one has entered: until
// then a rank waits for that one, and afterwards the call itself takes its
// time. That is Scalasca's "wait at NxN". If the call has a root, ranks wait
// less: what the root has (MPI_Bcast) they wait for until the root has entered,
// and the root alone waits for what the others have (MPI_Reduce). A rank that
// leaves MPI_Scan and its like before the last one has entered did not wait for
// that one.
//
// A rank that died, or hangs elsewhere, never comes. A call that was not over
// when the recording ended, or that failed, was waiting for it all the time,
// whatever it needs: all others were in the call, and did their part.
//
// Kernels of NCCL (device_collectives.h) are operations by the same rules.
//
// MPI_Init and MPI_Finalize are operations of all ranks, too. Calls that only
// begin an operation (MPI_Ibarrier) wait for nobody: who completes it does
// (rank_waits.h).
//
// Clocks must be aligned (importers/load does so). A wait can be wrong by the
// bounds of the two ranks' clocks.
//
// Units: nanoseconds. Threads: values.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_COLLECTIVES_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/ranks/mpi_calls.h"

namespace kymo::analysis {

struct JobOfRanks;  // job_of_ranks.h

// The call of one rank.
struct CollectivePart {
  size_t rank = 0;  // into RankCalls::ranks
  model::EventIndex event = 0;
  // Of a call that only begins the operation: until it is complete. kNoEvent
  // if nobody saw that.
  model::EventIndex request = model::kNoEvent;
  // The part whose rank it cannot do without. Itself: it waits for nobody.
  size_t awaits = 0;  // into CollectiveOperation::parts
  // One of CollectiveOperation::missing, for which the call waited until its
  // end, or does so in the MPI_Wait of `request`. Then nobody else counts.
  std::optional<size_t> never_came;
  // The rank needs all others for it: to whichever came last.
  bool needs_all = false;
  // How long the call waited: for that one, or for the one that it awaits.
  DurationNs waiting_ns = 0;
};

// All calls of one operation. It has one part of a rank at most.
struct CollectiveOperation {
  model::NameId name = model::kEmptyName;
  int64_t comm = -1;  // -1: MPI_Init, MPI_Finalize
  // Ranks of the communicator that did not come. Into RankCalls::ranks.
  std::vector<size_t> missing;
  // Those of `missing` that called nothing of MPI after the others' calls. Of
  // one that did, the record was lost.
  std::vector<size_t> absent;
  bool only_begins = false;
  bool on_device = false;
  std::vector<CollectivePart> parts;  // by rank; never empty
  size_t first = 0;                   // the part that entered first
  size_t last = 0;

  // For which rank a part waited.
  size_t AwaitedRank(const CollectivePart& part) const {
    return part.never_came.value_or(parts[part.awaits].rank);
  }
};

// By communicator, then in their order.
std::vector<CollectiveOperation> FindCollectives(const model::Trace& trace,
                                                 const RankCalls& calls);

// The calls of one function of MPI on one communicator.
struct CollectiveSum {
  std::string name;  // of a kernel, without its arguments
  int64_t comm = -1;
  int64_t operations = 0;  // each counts once
  int64_t incomplete = 0;  // of these: some rank's call is missing
  int64_t ranks = 0;       // of the communicator
  std::string comm_name;
  std::vector<int64_t> missing;  // the ranks that lack calls, in their order
  DurationNs total_ns = 0;       // of all ranks together, here and below
  DurationNs waiting_ns = 0;
  // From the entry of the first rank to that of the last one.
  DurationNs skew_ns = 0;  // of all operations together
  DurationNs most_skew_ns = 0;
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
std::vector<CollectiveSum> CollectiveSums(const JobOfRanks& job);

// How much later than the first one a rank came.
struct RankSkew {
  DurationNs start_ns = 0;  // to MPI_Init; without MPI, to its recording
  // To collective calls, but those of MPI_Init and MPI_Finalize.
  int64_t operations = 0;
  DurationNs sum_ns = 0;
  DurationNs most_ns = 0;

  DurationNs mean_ns() const { return operations ? sum_ns / operations : 0; }
};

// In the order of RankCalls::ranks.
std::vector<RankSkew> SkewOfRanks(const JobOfRanks& job);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_COLLECTIVES_H_
