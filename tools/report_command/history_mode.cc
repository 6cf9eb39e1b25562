// kymo report --append=FILE and --history=FILE.
#include <time.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/time.h"
#include "profiler/plugin/sink.h"
#include "tools/command_line/say.h"
#include "tools/command_line/user_folder.h"
#include "tools/history/history.h"
#include "tools/history/history_store.h"
#include "tools/report_command/deliver.h"

namespace kymo::tools {
namespace {

// "2026-11-24 19:00:05", in UTC.
std::string TimeText(TimeNs time_ns) {
  const time_t seconds = time_ns / kNsPerSecond;
  tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[32];
  strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

}  // namespace

absl::Status AppendTrace(const model::Trace& trace,
                         const ReportCommand& command) {
  KYMO_ASSIGN_OR_RETURN(const RunAmounts amounts, AmountsOfRun(trace, command));
  const HistoryRun run = {.name = command.run_name.empty()
                                      ? TimeText(trace.start_ns())
                                      : command.run_name,
                          .time_ns = trace.start_ns()};
  KYMO_RETURN_IF_ERROR(AppendRun(UserPath(command.append), run, amounts));
  if (!command.quiet) {
    Say(absl::StrCat("appended run ", run.name, " with ", amounts.size(),
                     " rows to ", command.append));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> HistoryReport(const ReportCommand& command) {
  KYMO_ASSIGN_OR_RETURN(const RunHistory history,
                        ReadRuns(UserPath(command.history)));
  const HistoryChanges changes = FindChanges(history);
  if (!command.history_page.empty()) {
    KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> sink,
                          NewFileSink(UserPath(command.history_page)));
    KYMO_RETURN_IF_ERROR(sink->Append(HistoryPage(history, changes)));
    KYMO_RETURN_IF_ERROR(sink->Commit());
  }
  return HistoryText(history, changes, RunFormatOf(command.format));
}

}  // namespace kymo::tools
