// deliver.h - a loaded trace as tables and files.
#ifndef KYMO_TOOLS_REPORT_COMMAND_DELIVER_H_
#define KYMO_TOOLS_REPORT_COMMAND_DELIVER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "importers/load/load.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/sink.h"
#include "tools/report_command/options.h"
#include "tools/run_diff/run_diff.h"

namespace kymo::tools {

// The analyses that the command asks for, or else the table of its rows. As
// text, the table of sampled functions follows it.
absl::StatusOr<std::string> TablesText(const LoadedTrace& loaded,
                                       const ReportCommand& command);

// The amounts by which several runs are compared. Those of the heap only if no
// filter chooses events.
absl::StatusOr<RunAmounts> AmountsOfRun(const model::Trace& trace,
                                        const ReportCommand& command);

// --format of --diff of several runs, and of --history.
RunFormat RunFormatOf(TextFormat format);

// Adds the trace to the history --append.
absl::Status AppendTrace(const model::Trace& trace,
                         const ReportCommand& command);

// The changes in the history --history; writes --history_page, if there is one.
absl::StatusOr<std::string> HistoryReport(const ReportCommand& command);

// Shows the differences between two traces.
absl::StatusOr<std::string> DiffText(const model::Trace& before,
                                     const model::Trace& after,
                                     const ReportCommand& command);

// Writes the exporters' files and returns what the user should know of them.
// Stops at the first error; every file is complete or absent. `before`: what
// the trace is compared with, or null.
absl::StatusOr<std::vector<std::string>> ExportTrace(
    const model::Trace& trace, const model::Trace* before,
    const ReportCommand& command, const ExporterRegistry& exporters,
    OutputDirectory& out);

// The same for a recording that is larger than memory.
absl::StatusOr<std::vector<std::string>> ExportSums(
    const analysis::WindowSums& sums, const ReportCommand& command,
    const ExporterRegistry& exporters, OutputDirectory& out);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_DELIVER_H_
