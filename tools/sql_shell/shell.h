// shell.h - `report --sql -`: statements from a terminal or from a pipe.
//
//   SqlShell shell(queries, ResultFormat::kText);
//   return shell.Run();          // the exit status
//
// On a terminal, statements end with a semicolon and may have several lines;
// commands of the shell begin with a dot (.help). An error is said, and the
// next statement is read. Ctrl-C ends the query that runs, and Ctrl-D the
// shell. A second Ctrl-C ends the process if the query does not end. Without a
// terminal, the first error ends it.
//
// Ctrl-C is caught while Run() runs, and only then.
#ifndef KYMO_TOOLS_SQL_SHELL_SHELL_H_
#define KYMO_TOOLS_SQL_SHELL_SHELL_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "profiler/query/query.h"
#include "profiler/query/result_writer.h"
#include "tools/sql_shell/line_reader.h"
#include "tools/sql_shell/run_sql.h"

namespace kymo::tools {

class SqlShell {
 public:
  // `queries` must outlive this.
  SqlShell(TraceQueries& queries, query::ResultFormat format);

  int Run();

 private:
  // Reads and runs until the input ends.
  absl::Status Loop(LineReader& reader, bool is_terminal);
  // Runs the statements of `pending_` that are complete.
  absl::Status RunPending(LineReader& reader, bool is_terminal);
  absl::Status Command(std::string_view line);
  absl::Status SetFormat(std::string_view name);

  TraceQueries& queries_;
  SqlRun run_;
  std::string pending_;
  bool is_over_ = false;
};

// The queries that are ready to use, a line each.
std::string ReadyQueryList();

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_SQL_SHELL_SHELL_H_
