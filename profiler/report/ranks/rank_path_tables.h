// rank_path_tables.h - which rank held up the end of a job, as tables.
//
//   if (analysis::HasRankPath(job.calls)) Print(RankPathTable(job));
//
//   Rank  Host  Rank %  Cause      Name         Path %  On the path  # of parts
//      1  a     80.00%  computing  ComputeRows  70.00%       1.200s         900
//      1  a     80.00%  MPI        MPI_Waitall  10.00%    170.000ms         300
//
// profiler/analysis/ranks/rank_path.h defines the path. The time outside of MPI
// is named by the thread's innermost range; outside of ranges, by the functions
// of the program that its samples are in.
#ifndef KYMO_PROFILER_REPORT_RANKS_RANK_PATH_TABLES_H_
#define KYMO_PROFILER_REPORT_RANKS_RANK_PATH_TABLES_H_

#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/report/value_table.h"

namespace kymo::report {

// The path's time by rank, cause and name. The rank that had most of it is
// first. Names with less than 1 % of the path are one row, "[other]", for each
// rank and cause. REQUIRES, as below: HasRankPath.
ValueTable RankPathTable(const analysis::JobOfRanks& job);

// The same in the order of time. Times count from the trace's start.
ValueTable RankPathStepTable(const analysis::JobOfRanks& job);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_RANKS_RANK_PATH_TABLES_H_
