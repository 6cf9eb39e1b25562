#include "profiler/analysis/ranks/rank_path.h"

#include <algorithm>

namespace kymo::analysis {

bool HasRankPath(const RankCalls& calls) {
  return std::ranges::count_if(calls.ranks, &Rank::is_mpi) > 1;
}

std::vector<RankStep> FindRankPath(const JobOfRanks& job) {
  RankWalk walk(job);
  RankWalk::Place end;
  for (size_t i = 0; i < job.calls.ranks.size(); ++i) {
    if (!job.calls.ranks[i].is_mpi) continue;
    const RankWalk::Place of_rank = walk.EndOf(i);
    if (of_rank.time_ns > end.time_ns) end = of_rank;
  }
  std::vector<RankStep> steps = walk.Back(end, {});
  std::ranges::reverse(steps);
  return steps;
}

}  // namespace kymo::analysis
