// job_of_ranks.h - what the tables of a job's ranks are made of, found once.
//
//   const JobOfRanks job(trace, FindRankCalls(trace));
//   Print(CollectiveSums(job), LateRanks(job));
//
// Threads: values. Cost: that of matching the messages and collective calls of
// the trace; nothing if it has no ranks. The trace must outlive it.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_JOB_OF_RANKS_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_JOB_OF_RANKS_H_

#include <utility>
#include <vector>

#include "profiler/analysis/ranks/call_waits.h"
#include "profiler/analysis/ranks/collectives.h"
#include "profiler/analysis/ranks/messages.h"
#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/analysis/ranks/request_waits.h"
#include "profiler/analysis/ranks/wait_calls.h"

namespace kymo::analysis {

struct JobOfRanks {
  explicit JobOfRanks(const model::Trace& of)
      : JobOfRanks(of, FindRankCalls(of)) {}
  JobOfRanks(const model::Trace& of, RankCalls found)
      : trace(of),
        calls(std::move(found)),
        collectives(FindCollectives(trace, calls)),
        wait_calls(trace, calls),
        messages(MatchMessages(trace, calls, wait_calls)),
        waits(trace, wait_calls, collectives, messages),
        call_waits(trace, collectives, messages, waits) {}

  const model::Trace& trace;
  const RankCalls calls;
  const std::vector<CollectiveOperation> collectives;
  const WaitCalls wait_calls;
  const MatchedMessages messages;
  const RequestWaits waits;
  const CallWaits call_waits;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_JOB_OF_RANKS_H_
