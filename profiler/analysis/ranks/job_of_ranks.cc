#include "profiler/analysis/ranks/job_of_ranks.h"

#include <utility>

#include "profiler/analysis/ranks/kept_results.h"

namespace kymo::analysis {

JobOfRanks::JobOfRanks(const model::Trace& of)
    : JobOfRanks(of, FindRankCalls(of)) {}

JobOfRanks::JobOfRanks(const model::Trace& of, RankCalls found)
    : trace(of),
      calls(std::move(found)),
      collectives(FindCollectives(trace, calls)),
      wait_calls(trace, calls),
      messages(MatchMessages(trace, calls, wait_calls)),
      waits(trace, wait_calls, collectives, messages),
      call_waits(trace, collectives, messages, waits),
      kept(std::make_unique<KeptResults>()) {}

JobOfRanks::~JobOfRanks() = default;

}  // namespace kymo::analysis
