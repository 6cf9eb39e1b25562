// large_recording.h - the report of a recording that is larger than memory.
//
//   KYMO_ASSIGN_OR_RETURN(std::optional<LargeTrace> large,
//                         OpenInWindows(command, load, importers));
//   if (large) {
//     KYMO_ASSIGN_OR_RETURN(WindowReport report,
//                           ReportInWindows(command, exporters, *large));
//     Print(report.table) ...
//   }
//
// tools/deliver/sum_windows.h reads the recording. The report has the table by
// name. Exporters that take sums (TraceExporter::ExportSums) write their files.
#ifndef KYMO_TOOLS_REPORT_COMMAND_LARGE_RECORDING_H_
#define KYMO_TOOLS_REPORT_COMMAND_LARGE_RECORDING_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importers/load/load.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/trace_windows.h"
#include "tools/report_command/options.h"

namespace kymo::tools {

// The one file of the command, if its importer offers it in windows. Nothing:
// the command reads its files as a whole.
absl::StatusOr<std::optional<LargeTrace>> OpenInWindows(
    const ReportCommand& command, const LoadOptions& load,
    const ImporterRegistry& importers);

struct WindowReport {
  std::string table;  // as text or CSV
  analysis::WindowSums sums;
  std::vector<std::string> notes;
};

// kFailedPrecondition, with what to do, if the command asks for what only a
// whole trace has.
absl::StatusOr<WindowReport> ReportInWindows(const ReportCommand& command,
                                             const ExporterRegistry& exporters,
                                             LargeTrace& large);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_LARGE_RECORDING_H_
