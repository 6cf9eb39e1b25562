// functions.h - SQL functions for what SQL is bad at.
//
//   ancestor(event, name)        the innermost range of that name around it
//   self_ns(event)               its time without that of its children
//   stack_text(stack)            "main;train;mm", the outermost frame first
//   overlap(a, b)                for how long two events ran at once, in ns
//   overlap(a_start, a_dur, b_start, b_dur)
//   percentile(x, p)             an aggregate: the p-th percentile, 0 to 100
//   percentile(x, p, n)          the same; each x counts n times
//
// A number that is no event or stack gives NULL, and so does NULL.
// docs/query.md describes them for users; kFunctions is what it is held
// against.
#ifndef KYMO_PROFILER_QUERY_FUNCTIONS_H_
#define KYMO_PROFILER_QUERY_FUNCTIONS_H_

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "profiler/tables/trace_tables.h"

struct sqlite3;

namespace kymo::query {

struct FunctionInfo {
  std::string_view call;     // "ancestor(event, name)"
  std::string_view meaning;  // one sentence without a full stop
};
std::span<const FunctionInfo> Functions();

// `tables` must outlive the database.
absl::Status AddFunctions(const tables::TraceTables& tables, sqlite3* database);

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_FUNCTIONS_H_
