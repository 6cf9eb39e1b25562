// rank_path.h - which rank held up the end of a job, and with what.
//
//   const JobOfRanks job(trace);
//   if (HasRankPath(job.calls)) {
//     for (const RankStep& step : FindRankPath(job)) Print(step);
//   }
//
// The path is that of wakes (profiler/analysis/wake_path.h), with ranks in
// place of threads, and messages in place of wakes. It is followed from the end
// of the job back to its begin: from the last call of MPI_Finalize to the first
// event of the rank that came last to MPI_Init. At each time it is in one
// thread of one rank:
//
//   outside  of MPI: the rank computed, or did whatever else
//   in MPI   the rank was in a call for which it had to wait for nobody, or for
//            nobody any more: it transferred
//
// Where a call waited for another rank, the path goes on with that one, from
// the time at which it did what was waited for: it entered the collective
// call, began to send, began to receive, or came to its own MPI_Wait. If it
// never came, the path goes on there all the same. So no step is a wait, and a
// rank's time on the path is the most by which the job would have ended sooner
// without that work.
//
// The steps have no gaps. Clocks must be aligned (importers/load does so): a
// step can be wrong by the bounds of the clocks. Ranks that are not in the
// trace are on no path.
//
// Units: nanoseconds. Threads: values. Cost: that of matching messages, and a
// binary search for each step.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_RANK_PATH_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_RANK_PATH_H_

#include <vector>

#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/analysis/ranks/rank_walk.h"

namespace kymo::analysis {

// Whether the trace has several ranks of MPI.
bool HasRankPath(const RankCalls& calls);

// In the order of time. Steps of no time are left out. REQUIRES:
// HasRankPath(job.calls).
std::vector<RankStep> FindRankPath(const JobOfRanks& job);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_RANK_PATH_H_
