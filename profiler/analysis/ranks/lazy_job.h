// lazy_job.h - JobOfRanks, made once for all readers of a trace.
//
//   const LazyJobOfRanks ranks(trace);
//   Print(RankTable(ranks.Get()));                       // made here
//   Print(FindFindings(trace, memory, ranks));           // the same one
//
// Tables, findings, summary.json and the page all show what is found of a job's
// ranks. To match all messages takes seconds in a job of a million.
//
// Threads:   any, concurrently. The first caller of Get() makes it; the others
//   wait.
// Ownership: it lives as long as the object that made it.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_LAZY_JOB_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_LAZY_JOB_H_

#include <mutex>
#include <optional>

#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

class LazyJobOfRanks {
 public:
  // Reads that of `shared` if it is not null and is of the same trace. Both
  // must outlive this.
  explicit LazyJobOfRanks(const model::Trace& trace,
                          const LazyJobOfRanks* shared = nullptr);
  LazyJobOfRanks(const LazyJobOfRanks&) = delete;
  LazyJobOfRanks& operator=(const LazyJobOfRanks&) = delete;

  const JobOfRanks& Get() const;

 private:
  const model::Trace& trace_;
  const LazyJobOfRanks* const shared_;  // null: makes its own
  mutable std::once_flag once_;
  mutable std::optional<JobOfRanks> job_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_LAZY_JOB_H_
