// diff.h - two traces' tables side by side: what got slower, faster, new, gone.
//
//   KYMO_ASSIGN_OR_RETURN(const RowDiff diff,
//                         DiffRows(before, after, "self_cpu_time_total"));
//   diff.Text(TextFormat::kText, options);
//
//   --------  --------  ------------  ------------  ...  ------------
//       Name    Change        Before         After  ...         Calls
//   --------  --------  ------------  ------------  ...  ------------
//   aten::mm    slower       1.000ms       1.500ms  ...        3 -> 3
//   --------  --------  ------------  ------------  ...  ------------
//   self_cpu_time_total: 2.000ms -> 2.500ms (+500.000us, +25.00%)
//   1 slower, 0 faster, 0 new, 0 gone, 1 same
//
// Sampled functions are compared in the same way; their calls are the samples
// of the time that is compared. So are waits, by function and kind.
//
// Rows that share name, kind, overload, shapes and stack are compared by one
// time: slower is more of it, faster less, whatever the number of calls. Sorted
// by how much it changed; equal changes by name.
#ifndef KYMO_TOOLS_REPORT_COMMAND_DIFF_H_
#define KYMO_TOOLS_REPORT_COMMAND_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/model/trace.h"
#include "profiler/report/table.h"
#include "profiler/text/json_writer.h"
#include "tools/report_command/data_text.h"

namespace kymo::tools {

enum class Change : uint8_t { kSlower, kFaster, kNew, kGone, kSame, kCount };

enum class DiffOf : uint8_t {
  kRanges,
  kSampledFunctions,  // their overload_name is a module, their count samples
  kWaits,             // their overload_name is a kind
};

struct DiffRow {
  const report::TableRow* row = nullptr;  // of the later trace, if it has it
  Change change = Change::kSame;
  double before_us = 0;
  double after_us = 0;
  bool is_before = false;  // the earlier trace has it
  bool is_after = false;
  int64_t count_before = 0;
  int64_t count_after = 0;
};

class RowDiff {
 public:
  std::string Text(TextFormat format, const report::TableOptions& table) const;
  // The members of the JSON object, into one that is open.
  void WriteMembers(const report::TableOptions& table,
                    json::JsonWriter& json) const;

  const std::vector<DiffRow>& rows() const { return rows_; }
  size_t CountOf(Change change) const;

 private:
  friend absl::StatusOr<RowDiff> DiffRows(
      std::span<const report::TableRow> before,
      std::span<const report::TableRow> after, std::string_view metric,
      DiffOf of);

  std::string PlainText(const report::TableOptions& table) const;
  DataTable Data(const report::TableOptions& table) const;
  // Of functions and waits: the names of the columns that differ.
  DataTable PlaceData(const report::TableOptions& table, const char* second,
                      const char* counted) const;
  std::string Totals(const report::TableOptions& table) const;

  std::string metric_;
  DiffOf of_ = DiffOf::kRanges;
  std::vector<DiffRow> rows_;
};

// kInvalidArgument for another metric. An empty one is self_device_time_total
// where some row has such time, else self_cpu_time_total. The rows must outlive
// the result.
absl::StatusOr<RowDiff> DiffRows(std::span<const report::TableRow> before,
                                 std::span<const report::TableRow> after,
                                 std::string_view metric,
                                 DiffOf of = DiffOf::kRanges);

// Where the threads of a trace waited, for DiffOf::kWaits: a row for each
// function, kind and stack. Its key is the function, `overload_name` the kind
// ("condition, idle"), and it counts waits. If the file of the main program is
// known, the kind has the names of other files: "read (libpq.so.5)".
std::vector<report::TableRow> WaitRowsOf(const model::Trace& trace,
                                         std::string_view main_module);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_DIFF_H_
