// job_of_ranks.h - what the tables of a job's ranks are made of, found once.
//
//   const JobOfRanks job(trace, FindRankCalls(trace));
//   Print(CollectiveSums(job), LateRanks(job));
//
// Threads: any may read it. Cost: that of matching the messages and collective
// calls of the trace; nothing if it has no ranks. What goes back through the
// ranks (LateRanks, FindRankPath) costs more: it is found when it is first
// asked for, and kept. The trace must outlive it.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_JOB_OF_RANKS_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_JOB_OF_RANKS_H_

#include <memory>
#include <vector>

#include "profiler/analysis/ranks/call_waits.h"
#include "profiler/analysis/ranks/collectives.h"
#include "profiler/analysis/ranks/messages.h"
#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/analysis/ranks/request_waits.h"
#include "profiler/analysis/ranks/wait_calls.h"

namespace kymo::analysis {

struct KeptResults;  // kept_results.h

struct JobOfRanks {
  explicit JobOfRanks(const model::Trace& of);
  JobOfRanks(const model::Trace& of, RankCalls found);
  ~JobOfRanks();
  JobOfRanks(const JobOfRanks&) = delete;
  JobOfRanks& operator=(const JobOfRanks&) = delete;

  const model::Trace& trace;
  const RankCalls calls;
  const std::vector<CollectiveOperation> collectives;
  const WaitCalls wait_calls;
  const MatchedMessages messages;
  const RequestWaits waits;
  const CallWaits call_waits;
  const std::unique_ptr<KeptResults> kept;  // for those who find them
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_JOB_OF_RANKS_H_
