// rank_tables.h - what the ranks of a job did, and which of them was late.
//
//   const ValueTable table = RankTable(analysis::JobOfRanks(trace));
//
// Tables of a trace are empty if it has no ranks (profiler/analysis/ranks).
#ifndef KYMO_PROFILER_REPORT_RANKS_RANK_TABLES_H_
#define KYMO_PROFILER_REPORT_RANKS_RANK_TABLES_H_

#include <cstdint>
#include <span>
#include <string>

#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/analysis/ranks/rank_sums.h"
#include "profiler/report/value_table.h"

namespace kymo::report {

// A row for each rank: its wall time, what of it was in MPI, its clock.
ValueTable RankTable(const analysis::JobOfRanks& job);

// A row for each name of ranges: the slowest rank and the mean.
ValueTable ImbalanceTable(const analysis::JobOfRanks& job);

// "0-2, 7": ranks in their order.
std::string RankRanges(std::span<const int64_t> ranks);

// A row for each function and communicator: waiting for the last rank to enter,
// and transfer.
ValueTable CollectiveTable(const analysis::JobOfRanks& job);

// A row for each function that waits for requests (MPI_Wait and its like):
// waiting for another rank, and transfer.
ValueTable MpiWaitTable(const analysis::JobOfRanks& job);

// A row for each pair of ranks: messages, bytes, and who waited for whom.
ValueTable MessageTable(const analysis::JobOfRanks& job);

// A row for each name of ranges, of all ranks of a job: calls and their times,
// the mean of the ranks' totals, and in which ranks it took least and most.
ValueTable JobTable(const analysis::RankSums& sums);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_RANKS_RANK_TABLES_H_
