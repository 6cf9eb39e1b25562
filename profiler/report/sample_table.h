// sample_table.h - sampled functions as a table in the layout of table.h.
//
//   -------  ------------  ------------  ...  -------------  ------------
//      Name    Self CPU %      Self CPU  ...  Samples total  Module
//   -------  ------------  ------------  ...  -------------  ------------
//       lzm        62.50%     500.000ms  ...            625  liblzma.so.5
//   -------  ------------  ------------  ...  -------------  ------------
//   Sampled CPU time total: 800.000ms
//   Number of samples: 800
//
// Percentages are shares of all sampled CPU time, even if the table shows fewer
// rows. "Samples total" counts the samples whose stack contains the function,
// and "CPU total" is their time.
#ifndef KYMO_PROFILER_REPORT_SAMPLE_TABLE_H_
#define KYMO_PROFILER_REPORT_SAMPLE_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "profiler/report/table.h"

namespace kymo::report {

struct SampleTableRow {
  std::string name;
  std::string module;
  double cpu_time_us = 0;
  double self_cpu_time_us = 0;
  int64_t self_sample_count = 0;
  int64_t sample_count = 0;
};

struct SampleTable {
  std::vector<SampleTableRow> rows;
  DurationNs sampled_ns = 0;  // all samples
  int64_t sample_count = 0;
};

struct SampleTableOptions {
  // One of self_cpu_time_total, cpu_time_total, count. Empty: rows keep their
  // order.
  std::string sort_by = "self_cpu_time_total";
  int row_limit = TableOptions().row_limit;  // negative: all
  std::optional<int> max_name_column_width =
      TableOptions().max_name_column_width;
  std::optional<int> max_module_column_width = 40;
  std::optional<std::string> header;
  std::string time_unit;  // "s", "ms" or "us"; anything else: by size
};

// All sampled functions of the trace; no rows if it holds no samples.
SampleTable MakeSampleTable(const model::Trace& trace);

// The key by which to sort sampled functions below a table of averages that is
// sorted by `sort_by`: the same, or self time where this table has no such
// column.
std::string SampleSortKey(const std::string& sort_by);

// The rows in the order and number in which the table shows them. An unknown
// sort key is kInvalidArgument.
absl::StatusOr<std::vector<SampleTableRow>> ShownSampleRows(
    const SampleTable& table, const SampleTableOptions& options);

// As of table.h.
void MakeVisible(SampleTableRow& row);

// Empty text when there are no rows. An unknown sort key is kInvalidArgument.
// Names are visible.
absl::StatusOr<std::string> FormatSampleTable(
    SampleTable table, const SampleTableOptions& options);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_SAMPLE_TABLE_H_
