// large_recording.h - the table and the stacks of a raw recording (--keep_raw)
// that is too large for memory.
//
//   KYMO_ASSIGN_OR_RETURN(const auto windows, OpenInWindows(command));
//   if (windows != nullptr) {
//     KYMO_ASSIGN_OR_RETURN(WindowReport report,
//                           ReportInWindows(command, *windows));
//     Print(report.table) ...
//   }
//
// sum_windows.h reads it; what can be said then are averages by name and the
// folded stacks of ranges.
#ifndef KYMO_TOOLS_REPORT_COMMAND_LARGE_RECORDING_H_
#define KYMO_TOOLS_REPORT_COMMAND_LARGE_RECORDING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/raw/raw_windows.h"
#include "exporters/stacks/folded.h"
#include "profiler/model/loss_ledger.h"
#include "tools/report_command/options.h"

namespace kymo::tools {

// What is to be read in windows: the one raw file of the command, if --windows
// is always, or if it is auto and the trace of the file would take more than
// --max_memory, by default three quarters of the memory that is left. Null:
// nothing is.
absl::StatusOr<std::unique_ptr<cpu::RawWindows>> OpenInWindows(
    const ReportCommand& command);

struct WindowReport {
  std::string table;      // as text or CSV
  stacks::Folded stacks;  // self time, if the command exports stacks
  model::LossLedger ledger;
  std::vector<std::string> notes;
};

// kFailedPrecondition, with what to do, for what needs the whole trace.
absl::StatusOr<WindowReport> ReportInWindows(const ReportCommand& command,
                                             cpu::RawWindows& windows);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_LARGE_RECORDING_H_
