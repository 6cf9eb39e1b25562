// sum_windows.h - what can be said of a recording that is larger than memory.
//
//   KYMO_ASSIGN_OR_RETURN(const auto windows, cpu::RawWindows::Open(path));
//   KYMO_ASSIGN_OR_RETURN(const SummedWindows sums, SumWindows(*windows));
//   report::FormatTable(report::TableRows(sums.sums.Averages()), options);
//   stacks::WriteFolded(FoldPaths(sums.sums), out, "stacks.folded");
//
// The recording is read window by window (backends/cpu/raw/raw_windows.h), so
// that memory is bounded whatever its size: averages by name and the folded
// stacks of ranges. Recursion counts as often as it happened, which the table
// of a whole trace merges as PyTorch does.
#ifndef KYMO_TOOLS_REPORT_COMMAND_SUM_WINDOWS_H_
#define KYMO_TOOLS_REPORT_COMMAND_SUM_WINDOWS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/raw/raw_windows.h"
#include "exporters/stacks/folded.h"
#include "profiler/analysis/averages/window_sums.h"

namespace kymo::tools {

struct SummedWindows {
  analysis::WindowSums sums;
  std::vector<std::string> notes;  // for people
};

// Reads all windows. Errors: those of RawWindows and Normalize.
absl::StatusOr<SummedWindows> SumWindows(cpu::RawWindows& windows);

// Self times of the call paths.
stacks::Folded FoldPaths(const analysis::WindowSums& sums);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_SUM_WINDOWS_H_
