// percentile.h - the SQL aggregate percentile(x, p).
//
//   select percentile(dur_ns, 99) from events group by name
//
// `p` is a number from 0 to 100, and the same in all rows of a group. NULLs of
// x do not count. Between two values it is interpolated, as numpy.percentile
// does. Memory: 8 bytes a value, which count for the query's limit.
#ifndef KYMO_PROFILER_QUERY_PERCENTILE_H_
#define KYMO_PROFILER_QUERY_PERCENTILE_H_

struct sqlite3_context;
struct sqlite3_value;

namespace kymo::query {

void PercentileStep(sqlite3_context* context, int, sqlite3_value** values);
void PercentileResult(sqlite3_context* context);

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_PERCENTILE_H_
