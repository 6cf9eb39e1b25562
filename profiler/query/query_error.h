// query_error.h - says what is wrong with a query, and where.
//
//   PlaceInQuery("select nam from events", 7)
//   // "\n  select nam from events\n         ^"
#ifndef KYMO_PROFILER_QUERY_QUERY_ERROR_H_
#define KYMO_PROFILER_QUERY_QUERY_ERROR_H_

#include <string>
#include <string_view>

namespace kymo::query {

// The line of the query with a mark below the byte at `offset`. Empty if the
// offset is negative or beyond the end. Long lines are cut around the mark.
std::string PlaceInQuery(std::string_view sql, int offset);

// Where the name at the end of a message such as "no such table: x" stands in
// the query, for errors whose place SQLite does not tell. -1: nowhere.
int OffsetOfName(std::string_view sql, std::string_view message);

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_QUERY_ERROR_H_
