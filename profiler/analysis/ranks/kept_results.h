// kept_results.h - what costs a walk back through a job's ranks, found once.
//
//   KeptResults& kept = *job.kept;
//   const std::lock_guard<std::mutex> held(kept.mutex);
//   if (!kept.late) kept.late = Find(kept.WalkOf(job));
//
// Threads: any, with the mutex.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_KEPT_RESULTS_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_KEPT_RESULTS_H_

#include <mutex>
#include <optional>
#include <vector>

#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/analysis/ranks/rank_waits.h"
#include "profiler/analysis/ranks/rank_walk.h"

namespace kymo::analysis {

struct KeptResults {
  RankWalk& WalkOf(const JobOfRanks& job) {
    if (!walk) walk.emplace(job);
    return *walk;
  }

  std::mutex mutex;
  // All below are guarded by the mutex.
  std::optional<RankWalk> walk;
  std::optional<std::vector<LateRank>> late;
  std::optional<std::vector<RankStep>> path;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_KEPT_RESULTS_H_
