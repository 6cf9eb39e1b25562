// percentile.h - the SQL aggregates percentile(x, p) and percentile(x, p, n).
//
//   select percentile(dur_ns, 99) from events group by name
//   select percentile(dur_ns / calls, 99, calls) from events group by name
//
// `p` is a number from 0 to 100, and the same in all rows of a group. Each x
// counts n times, once without an n. NULLs of x do not count. Between two
// values it is interpolated, as numpy.percentile does. Memory: 16 bytes a row,
// which count for the query's limit.
#ifndef KYMO_PROFILER_QUERY_PERCENTILE_H_
#define KYMO_PROFILER_QUERY_PERCENTILE_H_

struct sqlite3_context;
struct sqlite3_value;

namespace kymo::query {

void PercentileStep(sqlite3_context* context, int count,
                    sqlite3_value** values);
void PercentileResult(sqlite3_context* context);

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_PERCENTILE_H_
