// job_averages.h - the averages of all ranks of a job, as JSON.
//
//   WriteJobAverages(sums, json);
//
//   {"ranks": [{"rank": 0, "work_ns": 120}],
//    "averages": [{"name": "solve",
//                  "calls": {"count": 4, "sum_ns": 100, "deviation_ns": 1.5,
//                            "least_ns": 20, "least_rank": 0,
//                            "most_ns": 30, "most_rank": 1},
//                  "totals_of_ranks": {...},   the same, of the ranks' totals
//                  "call_histogram": [[32, 4]]}]}
//
// The histogram has the longest duration and the calls of each bucket that has
// any. analysis/ranks/rank_sums.h says what is added up.
#ifndef KYMO_PROFILER_REPORT_RANKS_JOB_AVERAGES_H_
#define KYMO_PROFILER_REPORT_RANKS_JOB_AVERAGES_H_

#include "profiler/analysis/ranks/rank_sums.h"
#include "profiler/text/json_writer.h"

namespace kymo::report {

void WriteJobAverages(const analysis::RankSums& sums, json::JsonWriter& json);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_RANKS_JOB_AVERAGES_H_
