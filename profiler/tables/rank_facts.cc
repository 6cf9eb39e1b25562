#include "profiler/tables/rank_facts.h"

#include <initializer_list>
#include <string_view>

#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/text/json_member.h"

namespace kymo::tables {
namespace {

// Empty if there is none.
std::string_view MetadataOf(const model::Trace& trace, std::string_view key) {
  for (const model::Metadata& metadata : trace.metadata()) {
    if (trace.Name(metadata.key) == key) return trace.Name(metadata.json_value);
  }
  return {};
}

}  // namespace

RankFacts FindRank(const model::Trace& trace) {
  RankFacts facts;
  const std::string_view info = MetadataOf(trace, "distributedInfo");
  if (!info.empty()) {
    facts.rank = json::IntMember(info, "rank");
    facts.world_size = json::IntMember(info, "world_size");
    facts.local_rank = json::IntMember(info, "local_rank");
    facts.launcher = json::TextMember(info, "backend");
  }
  for (const std::string_view key : {"hostname", "host name"}) {
    if (!facts.host) facts.host = json::TextOf(MetadataOf(trace, key));
  }
  return facts;
}

std::vector<RankRow> RowsOfRanks(const model::Trace& trace,
                                 const RankFacts& facts) {
  const std::vector<analysis::Rank> ranks =
      analysis::FindRankCalls(trace).ranks;
  if (ranks.empty()) return {{facts.rank, facts.world_size, facts.local_rank}};
  std::vector<RankRow> rows;
  for (const analysis::Rank& rank : ranks) {
    RankRow& row = rows.emplace_back();
    row.rank = rank.rank;
    row.world_size = rank.size;
    if (facts.rank == rank.rank) row.local_rank = facts.local_rank;
    row.is_mpi = rank.is_mpi;
    row.host = trace.strings().Find(rank.host);
    if (rank.host.empty()) row.host = std::nullopt;
  }
  return rows;
}

}  // namespace kymo::tables
