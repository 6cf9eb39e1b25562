// rank_facts.h - a trace's place in a distributed program.
//
//   const RankFacts facts = FindRank(trace);
//   if (facts.rank) Print(*facts.rank, *facts.world_size);
//
// Kineto's metadata `distributedInfo` says it. Whatever of it is missing, or no
// number, is not known.
#ifndef KYMO_PROFILER_TABLES_RANK_FACTS_H_
#define KYMO_PROFILER_TABLES_RANK_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>

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

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_RANK_FACTS_H_
