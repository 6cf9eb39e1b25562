// table.h - PyTorch's EventList.table() text, byte for byte.
//
//   TableOptions options;
//   options.sort_by = "self_cpu_time_total";
//   options.row_limit = 10;
//   KYMO_ASSIGN_OR_RETURN(const std::string text,
//                         FormatTable(TableRows(KeyAverages(trace)), options));
//
//   -----  ------------  ------------  ------------  ...  ------------
//    Name    Self CPU %      Self CPU   CPU total %  ...    # of Calls
//   -----  ------------  ------------  ------------  ...  ------------
//       y       100.00%       4.000us       100.00%  ...             1
//   -----  ------------  ------------  ------------  ...  ------------
//   Self CPU time total: 4.000us
//
// A row is an average or a single event. Every column ends with two spaces,
// every line with a newline; no rows give the empty text. Widths count code
// points. Where stacks and FLOPs are both shown, their cells stand swapped
// under their titles: so does PyTorch, and tools read it.
//
// Errors: an unknown sort key is kInvalidArgument and lists the valid ones.
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

// What the row's events ran on.
enum class RowDevice { kCpu, kDevice };

struct TableRow {
  std::string key;  // the name
  std::string overload_name;
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
  // "[[64, 32], []]". Shown if some row's is other than "", "[]" and "None".
  std::string input_shapes;
  std::vector<std::string> stack;  // innermost first
};

struct TableOptions {
  std::string sort_by;  // empty: the order of the rows stays
  int row_limit = 100;  // negative: all
  // Without a value: as wide as the text.
  std::optional<int> max_name_column_width = 55;
  std::optional<int> max_src_column_width = 75;
  std::optional<int> max_shapes_column_width = 80;
  std::optional<std::string> header;
  bool top_level_events_only = false;
  std::string time_unit;  // "s", "ms" or "us"; anything else: by size

  bool profile_memory = false;  // show the memory columns
  bool with_flops = false;      // show FLOPs, where there are some
  std::string use_device;       // "cuda"; empty: no device
};

absl::StatusOr<std::string> FormatTable(std::span<const TableRow> rows,
                                        const TableOptions& options);

// The rows that FormatTable shows, in its order: those that are hidden
// (top_level_events_only) or beyond the limit are left out. For other forms of
// the same table.
absl::StatusOr<std::vector<const TableRow*>> ShownRows(
    std::span<const TableRow> rows, const TableOptions& options);

// Averages as rows, in their order.
std::vector<TableRow> TableRows(std::span<const analysis::KeyAverage> averages);

// The sort keys that FormatTable documents, sorted, aliases included.
std::span<const std::string_view> TableSortKeys();

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_TABLE_H_
