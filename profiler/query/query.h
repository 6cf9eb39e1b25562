// query.h - asks a trace with SQL.
//
//   absl::StatusOr<kymo::QueryResult> result = kymo::Query(
//       trace, "select name, sum(self_ns) from events group by name");
//   if (!result.ok()) return result.status();
//   for (const std::vector<kymo::QueryValue>& row : result->rows) {
//     Print(std::get<std::string>(row[0]), std::get<int64_t>(row[1]));
//   }
//
// For several queries, or rows that are too many to keep:
//
//   absl::StatusOr<kymo::TraceQueries> queries =
//       kymo::TraceQueries::Open(trace, {.max_time_ns = 5'000'000'000});
//   if (!queries.ok()) return queries.status();
//   auto longest = queries->Run("select max(dur_ns) from events");
//
// The language is SQLite's. docs/query.md describes the tables, the functions
// and the queries that are ready to use. Nothing of the trace is copied, and
// nothing can be changed.
//
// Errors:  kInvalidArgument: the query is wrong; the message shows where.
//   kPermissionDenied: it does more than read. kDeadlineExceeded,
//   kResourceExhausted: it is over a limit. kCancelled: Cancel() was called.
// Threads: one at a time, but Cancel() from any thread and signal handler. A
//   trace may be asked by several TraceQueries at once.
// Ownership: the trace must outlive its TraceQueries.
// Cost: docs/query.md has measurements. Indexes are made when a query first
//   needs them: 4 bytes a row and column.
#ifndef KYMO_PROFILER_QUERY_QUERY_H_
#define KYMO_PROFILER_QUERY_QUERY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo {

// monostate: NULL. A blob is a string.
using QueryValue = std::variant<std::monostate, std::string, int64_t, double>;

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<QueryValue>> rows;
};

struct QueryLimits {
  // Of one query; 0: none. Looked at between SQLite's instructions: one call of
  // instr, replace or trim with texts of megabytes may exceed it by far.
  DurationNs max_time_ns = 0;
  // Of what SQLite keeps for a query: sorting, groups, WITH RECURSIVE. A
  // QueryResult may take as much again. The limit is checked now and then, so a
  // query may exceed it for a moment. SQLite counts for the whole process: what
  // other queries take meanwhile counts, too. 0: none.
  int64_t max_memory_bytes = int64_t{1} << 30;
  // The process uses SQLite for these queries alone. Then no query exceeds the
  // limit, not even for a moment: SQLite's limit for the process is set.
  bool is_alone = false;
  // Asked by the query's thread, some 50,000 times a second; true ends the
  // query as Cancel() does. May be empty.
  std::function<bool()> is_cancelled = {};
};

class TraceQueries {
 public:
  static absl::StatusOr<TraceQueries> Open(const model::Trace& trace,
                                           const QueryLimits& limits = {});
  TraceQueries(TraceQueries&&) noexcept;
  TraceQueries& operator=(TraceQueries&&) noexcept;
  ~TraceQueries();

  const QueryLimits& limits() const;

  // `sql` is one statement. The result, too, is within the limit of memory.
  absl::StatusOr<QueryResult> Run(std::string_view sql);

  // The same row by row: first the names of the columns, then each row. Ends
  // when one of them returns an error, with that error.
  using OnColumns = std::function<absl::Status(std::vector<std::string>)>;
  using OnRow = std::function<absl::Status(std::span<const QueryValue>)>;
  absl::Status Run(std::string_view sql, const OnColumns& on_columns,
                   const OnRow& on_row);

  // Ends the query that runs, and lets the next one run.
  void Cancel() noexcept;

 private:
  class Engine;
  explicit TraceQueries(std::unique_ptr<Engine> engine);

  std::unique_ptr<Engine> engine_;
};

// One query, with the default limits.
absl::StatusOr<QueryResult> Query(const model::Trace& trace,
                                  std::string_view sql);

}  // namespace kymo

#endif  // KYMO_PROFILER_QUERY_QUERY_H_
