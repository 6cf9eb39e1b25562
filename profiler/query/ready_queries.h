// ready_queries.h - queries that many people need, by name.
//
//   const ReadyQuery* query = FindReadyQuery("slowest_steps");
//   Run(query->sql);
//
// `report --query=NAME`, `--query=list` and the list in docs/query.md follow
// from this list. The tests run each of them on a trace that has an answer.
#ifndef KYMO_PROFILER_QUERY_READY_QUERIES_H_
#define KYMO_PROFILER_QUERY_READY_QUERIES_H_

#include <span>
#include <string_view>

namespace kymo::query {

struct ReadyQuery {
  std::string_view name;     // lower_snake
  std::string_view purpose;  // one line, without a full stop
  std::string_view sql;
};

// Sorted by name.
std::span<const ReadyQuery> ReadyQueries();

// Null when there is none of that name.
const ReadyQuery* FindReadyQuery(std::string_view name);

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_READY_QUERIES_H_
