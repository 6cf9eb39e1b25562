// job_screen.h - what a user sees when a job has ended: how long it took and
// what of that was waiting, who was late, and which file to open.
//
//   heat: 3 ranks on 1 host, 4.458 s; in MPI for 71 % of their time
//
//   Finding: Other ranks waited 3.01 s in all for rank 1, longest in ...
//
//   Ranks, from MPI_Init to MPI_Finalize
//   Rank     Wall    MPI %  Collective  ...
//   ...
//
// Tables are fitted to the screen, with the columns that say least left out
// first; ranks.txt has them whole.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_SCREEN_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_SCREEN_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/analysis/ranks/lazy_job.h"
#include "profiler/analysis/ranks/rank_sums.h"
#include "profiler/model/trace.h"
#include "profiler/report/value_table.h"
#include "tools/profile_command/screen.h"

namespace kymo::tools {

// A table of a job, and a line about it.
struct JobTable {
  std::string about;
  report::ValueTable table;
};

// Those that have rows. `sums` are null without --keep_ranks.
std::vector<JobTable> JobTables(const analysis::JobOfRanks& job,
                                const analysis::RankSums* sums);

// What all ranks of the trace did together.
struct JobTimes {
  std::set<std::string> hosts;
  DurationNs longest_ns = 0;
  DurationNs all_ns = 0;       // the ranks' times, added up
  DurationNs mpi_wall_ns = 0;  // of those with MPI
  DurationNs mpi_ns = 0;
};

JobTimes TimesOfJob(const analysis::JobOfRanks& job);

struct JobFacts {
  std::string target;
  int64_t ranks = 0;       // of the job
  int64_t with_trace = 0;  // the ranks that the trace has
  JobTimes times = {};
};

// At most three, the late rank first.
std::vector<std::string> FindingsOfJob(const analysis::LazyJobOfRanks& ranks);

std::string JobScreen(const model::Trace& trace, const JobFacts& facts,
                      const std::vector<JobTable>& tables,
                      const std::vector<std::string>& findings,
                      const ScreenOptions& options);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_SCREEN_H_
