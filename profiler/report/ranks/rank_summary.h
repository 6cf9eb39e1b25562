// rank_summary.h - the tables of ranks as JSON, for summary.json.
//
//   WriteRankTables(analysis::JobOfRanks(trace), json);
//
//   "ranks": [{"rank": 0, "host": "node-a", "process": 71,
//              "wall_ns": 4458000000, "mpi_share": 0.31, ...}],
//   "collectives": [{"name": "MPI_Allreduce", "comm": 0, ...,
//                    "waiting_ns": 3077000000, "late_rank": 1, ...}],
//   "mpi_waits": [...], "messages": [...], "imbalance": [...]
//
// A member for each table of report/ranks/rank_tables.h that has rows, named
// as its analysis is (`kymo report --analysis=collectives`). Rows have the
// columns of that table: _ns are nanoseconds, _bytes bytes, _share parts of 1.
// What a row does not know is not there.
#ifndef KYMO_PROFILER_REPORT_RANKS_RANK_SUMMARY_H_
#define KYMO_PROFILER_REPORT_RANKS_RANK_SUMMARY_H_

#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/text/json_writer.h"

namespace kymo::report {

// Writes members of an open object; none if the trace has no ranks.
void WriteRankTables(const analysis::JobOfRanks& job, json::JsonWriter& json);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_RANKS_RANK_SUMMARY_H_
