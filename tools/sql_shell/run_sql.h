// run_sql.h - runs statements of SQL over a trace and prints their rows.
//
//   SqlRun run(queries, ResultFormat::kCsv, PrintToStandardOutput);
//   KYMO_RETURN_IF_ERROR(run.Run("select 1; select 2"));
//
// Several results follow each other. As text and Markdown, an empty line stands
// between them.
//
// SQLite looks at the limit of time between its instructions, and some of its
// functions take hours for long texts. So where the queries are alone in the
// process (QueryLimits), the process ends two seconds after the limit.
#ifndef KYMO_TOOLS_SQL_SHELL_RUN_SQL_H_
#define KYMO_TOOLS_SQL_SHELL_RUN_SQL_H_

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "profiler/query/query.h"
#include "profiler/query/result_writer.h"

namespace kymo::tools {

class SqlRun {
 public:
  // `queries` must outlive this.
  // A table as text or Markdown takes at most the queries' limit of memory.
  SqlRun(TraceQueries& queries, query::ResultFormat format,
         query::ResultWriter::Output output)
      : queries_(queries), format_(format), output_(std::move(output)) {}

  void set_format(query::ResultFormat format) { format_ = format; }

  // All statements; the last one needs no semicolon. Stops at the first error.
  absl::Status Run(std::string_view sql);

  // One statement.
  absl::Status RunOne(std::string_view statement);

 private:
  TraceQueries& queries_;
  query::ResultFormat format_;
  const query::ResultWriter::Output output_;
  bool is_first_ = true;
};

// For signal handlers: says it on standard error and ends the process.
[[noreturn]] void EndAtOnce(std::string_view message, int status) noexcept;

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_SQL_SHELL_RUN_SQL_H_
