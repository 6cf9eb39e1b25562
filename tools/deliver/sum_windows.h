// sum_windows.h - sums up a recording that is larger than memory.
//
//   KYMO_ASSIGN_OR_RETURN(const SummedWindows summed, SumWindows(windows));
//   report::FormatTable(report::TableRows(summed.sums.Averages()), options);
//   exporter.ExportSums(summed.sums, options, out);
//
// The recording is read window by window (profiler/plugin/trace_windows.h), so
// memory is bounded whatever its size. The result is averages by name and sums
// by call path.
#ifndef KYMO_TOOLS_DELIVER_SUM_WINDOWS_H_
#define KYMO_TOOLS_DELIVER_SUM_WINDOWS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/plugin/trace_windows.h"

namespace kymo::tools {

struct SummedWindows {
  analysis::WindowSums sums;
  std::vector<std::string> notes;  // for people
};

// Reads all windows. Errors: those of TraceWindows and Normalize.
absl::StatusOr<SummedWindows> SumWindows(TraceWindows& windows);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_DELIVER_SUM_WINDOWS_H_
