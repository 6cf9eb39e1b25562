// test_query.h - queries and their rows as texts, for tests.
//
//   RowsOf(trace, "select id, name from events")   // {"0|forward", ...}
//
// NULL is "-". An error is the only row: "error: no such table: x".
#ifndef KYMO_PROFILER_QUERY_TEST_QUERY_H_
#define KYMO_PROFILER_QUERY_TEST_QUERY_H_

#include <string>
#include <string_view>
#include <vector>

#include "profiler/query/query.h"

namespace kymo {

std::vector<std::string> RowsOf(TraceQueries& queries, std::string_view sql);
std::vector<std::string> RowsOf(const model::Trace& trace,
                                std::string_view sql);

}  // namespace kymo

#endif  // KYMO_PROFILER_QUERY_TEST_QUERY_H_
