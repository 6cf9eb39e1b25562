// query.h - ask a trace with SQL.
//
//   #include "kymo/profile.h"
//   #include "kymo/query.h"
//
//   kymo::Profile profile;
//   absl::Status status = profile.Start();
//   Work();
//   status.Update(profile.Stop());
//   if (!status.ok()) return status;
//   absl::StatusOr<kymo::QueryResult> slow = kymo::Query(
//       *profile.trace(),
//       "select name, sum(self_ns) from events group by name limit 3");
//   if (!slow.ok()) return slow.status();
//   for (const std::vector<kymo::QueryValue>& row : slow->rows) {
//     Print(std::get<std::string>(row[0]), std::get<int64_t>(row[1]));
//   }
//
// docs/query.md describes the tables, the functions and the limits.
// profiler/query/query.h has the rest: limits, rows one by one, Cancel().
// Depend on //:query, which brings SQLite.
#ifndef KYMO_PROFILER_API_QUERY_H_
#define KYMO_PROFILER_API_QUERY_H_

#include "profiler/query/query.h"  // IWYU pragma: export

#endif  // KYMO_PROFILER_API_QUERY_H_
