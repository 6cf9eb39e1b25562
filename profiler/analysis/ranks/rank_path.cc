#include "profiler/analysis/ranks/rank_path.h"

#include <algorithm>
#include <mutex>

#include "profiler/analysis/ranks/kept_results.h"

namespace kymo::analysis {

bool HasRankPath(const RankCalls& calls) {
  return std::ranges::count_if(calls.ranks, &Rank::is_mpi) > 1;
}

namespace {

std::vector<RankStep> FindPath(const JobOfRanks& job, RankWalk& walk) {
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

}  // namespace

std::vector<RankStep> FindRankPath(const JobOfRanks& job) {
  KeptResults& kept = *job.kept;
  const std::lock_guard<std::mutex> held(kept.mutex);
  if (!kept.path) kept.path = FindPath(job, kept.WalkOf(job));
  return *kept.path;
}

}  // namespace kymo::analysis
