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

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/trace_windows.h"
#include "profiler/plugin/window_reducer.h"

namespace kymo::tools {

struct SummedWindows {
  analysis::WindowSums sums;
  std::vector<std::string> notes;  // for people
};

// Reads all windows. Errors: those of TraceWindows and Normalize.
absl::StatusOr<SummedWindows> SumWindows(TraceWindows& windows);

// Sums up a recording that drops its oldest records while it is made:
//
//   const auto summer = std::make_shared<LiveSummer>();
//   RecordingFacts::Of(options.shared)->reducer = summer;
//   ...                                          // record
//   if (summer->has_windows()) {
//     KYMO_RETURN_IF_ERROR(summer->Finish(trace));
//     summer->sums()                             // all of the recording
//   }
//
// The last window waits for Finish: when processes ended, which ends the ranges
// that were open in them, may be known only from the shards of other sessions.
//
// Threads: as WindowReducer; Finish and sums() after the recording.
class LiveSummer final : public WindowReducer {
 public:
  absl::Status Add(TraceWindow window, WindowLosses losses) override;

  bool has_windows() const { return has_windows_; }
  // Adds the last window, and what else the trace of all sessions has (see
  // WindowSums::SetNewest). `trace` must outlive the object. Call it once.
  // Errors: the ranges of the last window are missing from the sums.
  absl::Status Finish(const model::Trace& trace);
  const analysis::WindowSums& sums() const { return sums_; }

 private:
  struct LastWindow {
    TraceWindow window;
    WindowLosses losses = WindowLosses::kCount;
  };

  absl::Status AddNow(TraceWindow window, WindowLosses losses);

  analysis::WindowSums sums_;
  std::optional<LastWindow> last_;
  bool has_windows_ = false;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_DELIVER_SUM_WINDOWS_H_
