#include "tools/sql_shell/run_sql.h"

#include <errno.h>
#include <stdio.h>

#include <span>
#include <string>
#include <vector>

#include "profiler/base/status_macros.h"
#include "profiler/query/statements.h"

namespace kymo::tools {

absl::Status PrintToStandardOutput(std::string_view text) {
  if (fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      fflush(stdout) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, "could not write to standard output");
}

absl::Status SqlRun::Run(std::string_view sql) {
  const query::StatementList list = query::SplitStatements(sql);
  for (const std::string_view statement : list.statements) {
    KYMO_RETURN_IF_ERROR(RunOne(statement));
  }
  if (!list.rest.empty()) return RunOne(list.rest);
  if (list.statements.empty()) return RunOne(sql);  // says that it is empty
  return absl::OkStatus();
}

absl::Status SqlRun::RunOne(std::string_view statement) {
  const bool has_gaps = format_ == query::ResultFormat::kText ||
                        format_ == query::ResultFormat::kMarkdown;
  query::ResultWriter writer(format_, output_);
  KYMO_RETURN_IF_ERROR(queries_.Run(
      statement,
      [&](std::vector<std::string> columns) {
        if (!is_first_ && has_gaps) KYMO_RETURN_IF_ERROR(output_("\n"));
        is_first_ = false;
        return writer.Begin(std::move(columns));
      },
      [&](std::span<const QueryValue> row) { return writer.Add(row); }));
  return writer.End();
}

}  // namespace kymo::tools
