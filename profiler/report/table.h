// table.h - PyTorch's EventList.table() text, byte for byte.
//
//   const std::vector<kymo::report::TableRow> rows = {
//       {.key = "y", .cpu_time_total_us = 4, .self_cpu_time_total_us = 4}};
//   const absl::StatusOr<std::string> text = kymo::report::FormatTable(
//       rows, {.sort_by = "self_cpu_time_total", .row_limit = 10});
//
// The text:
//
//   | -----  ------------  ------------  ------------  ...  ------------
//   |  Name    Self CPU %      Self CPU   CPU total %  ...    # of Calls
//   | -----  ------------  ------------  ------------  ...  ------------
//   |     y       100.00%       4.000us       100.00%  ...             1
//   | -----  ------------  ------------  ------------  ...  ------------
//   | Self CPU time total: 4.000us
//
// A row is an average or a single event. Every column ends with two spaces,
// every line with a newline. Without rows the text is empty. Widths count code
// points. If stacks and FLOPs are both shown, their cells stand swapped under
// their titles. PyTorch does so, and tools read it.
//
// Units:   times are microseconds, memory is bytes.
// Threads: any. Errors: an unknown sort key is kInvalidArgument; the message
//   lists the valid ones.
#ifndef KYMO_PROFILER_REPORT_TABLE_H_
#define KYMO_PROFILER_REPORT_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/analysis/averages/key_averages.h"

namespace kymo::report {

// Where the events of a row ran.
enum class RowDevice { kCpu, kDevice };

struct TableRow {
  std::string key;  // the name
  std::string overload_name = {};
  RowDevice device = RowDevice::kCpu;
  bool is_legacy = false;
  bool is_user_annotation = false;
  bool is_async = false;
  bool has_parent = false;  // hidden by top_level_events_only
  int64_t node_id = -1;     // -1 = none

  int64_t count = 1;
  double cpu_time_total_us = 0;
  double self_cpu_time_total_us = 0;
  double device_time_total_us = 0;
  double self_device_time_total_us = 0;

  int64_t cpu_memory_usage_bytes = 0;
  int64_t self_cpu_memory_usage_bytes = 0;
  int64_t device_memory_usage_bytes = 0;
  int64_t self_device_memory_usage_bytes = 0;

  double flops = 0;
  // For how long threads waited in them. None: not recorded.
  std::optional<double> wait_time_total_us = {};
  // "[[64, 32], []]". Shown if any row has one that is not "", "[]" or "None".
  std::string input_shapes = {};
  std::vector<std::string> stack = {};  // innermost first
};

struct TableOptions {
  std::string sort_by;  // empty: in the order of the rows
  int row_limit = 100;  // negative: no limit
  // Without a value a column is as wide as its texts.
  std::optional<int> max_name_column_width = 55;
  std::optional<int> max_src_column_width = 75;
  std::optional<int> max_shapes_column_width = 80;
  std::optional<std::string> header = {};
  bool top_level_events_only = false;
  std::string time_unit = {};  // "s", "ms" or "us"; otherwise each by its size

  bool profile_memory = false;  // show the memory columns
  bool with_flops = false;      // show FLOPs, if there are any
  std::string use_device = {};  // "cuda"; empty: no device
  // Show Kymo's own columns "On CPU", "Wait time" and "Wait %" of the CPU
  // total. Sorting by wait_time_total shows them, too.
  bool with_waits = false;
};

// A sort key that is not PyTorch's.
inline constexpr std::string_view kWaitSortKey = "wait_time_total";

// A name is whatever the program gave: escapes what would break the row, as
// VisibleText does.
void MakeVisible(TableRow& row);

// The text of the table, with visible names.
absl::StatusOr<std::string> FormatTable(std::span<const TableRow> rows,
                                        const TableOptions& options);

// The rows that FormatTable shows, in its order, for other forms of the same
// table. Hidden rows (top_level_events_only) and rows beyond the limit are left
// out.
absl::StatusOr<std::vector<const TableRow*>> ShownRows(
    std::span<const TableRow> rows, const TableOptions& options);

// A row for each average, in their order.
std::vector<TableRow> TableRows(std::span<const analysis::KeyAverage> averages);

// The valid sort keys, sorted, with their aliases.
std::span<const std::string_view> TableSortKeys();

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_TABLE_H_
