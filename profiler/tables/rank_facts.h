// rank_facts.h - a trace's place in a distributed program.
//
//   const RankFacts facts = FindRank(trace);
//   if (facts.rank) Print(*facts.rank, *facts.world_size);
//
//   for (const RankRow& row : RowsOfRanks(trace, facts)) ...
//
// Kineto's metadata `distributedInfo` says it. Whatever of it is missing, or no
// number, is not known. A trace of several ranks has one such metadata alone;
// its ranks are those that say so themselves (analysis/ranks/mpi_calls.h).
#ifndef KYMO_PROFILER_TABLES_RANK_FACTS_H_
#define KYMO_PROFILER_TABLES_RANK_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/model/string_table.h"
#include "profiler/model/trace.h"

namespace kymo::tables {

struct RankFacts {
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  std::optional<int64_t> local_rank;
  std::optional<std::string> launcher;  // "mpi", "nccl", ...
  std::optional<std::string> host;
};

RankFacts FindRank(const model::Trace& trace);

// A row of the table `ranks`.
struct RankRow {
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  std::optional<int64_t> local_rank;
  bool is_mpi = false;                // it called MPI
  std::optional<model::NameId> host;  // as the rank said it
};

// By rank; one row if there are no ranks. `facts` are FindRank's.
std::vector<RankRow> RowsOfRanks(const model::Trace& trace,
                                 const RankFacts& facts);

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_RANK_FACTS_H_
