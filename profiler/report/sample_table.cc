#include "profiler/report/sample_table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/analysis/averages/sampled_functions.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/sample_weights.h"
#include "profiler/report/table_layout.h"
#include "profiler/text/text_cells.h"
#include "profiler/text/visible_text.h"

namespace kymo::report {
namespace {

double Microseconds(DurationNs ns) {
  return static_cast<double>(ns) / kNsPerUs;
}

absl::Status Sort(const std::string& sort_by,
                  std::vector<SampleTableRow>& rows) {
  const auto descending = [&](auto member) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const SampleTableRow& a, const SampleTableRow& b) {
                       return a.*member > b.*member;
                     });
    return absl::OkStatus();
  };
  if (sort_by.empty()) return absl::OkStatus();
  if (sort_by == "self_cpu_time_total") {
    return descending(&SampleTableRow::self_cpu_time_us);
  }
  if (sort_by == "cpu_time_total") {
    return descending(&SampleTableRow::cpu_time_us);
  }
  if (sort_by == "count") return descending(&SampleTableRow::sample_count);
  return absl::InvalidArgumentError(
      absl::StrCat("no sort key '", sort_by,
                   "' for samples; the valid ones are: count, cpu_time_total, "
                   "self_cpu_time_total"));
}

struct Widths {
  size_t name = 0;
  size_t module = 0;
};

Widths Measure(const SampleTable& table, const SampleTableOptions& options) {
  Widths longest;
  for (const SampleTableRow& row : table.rows) {
    longest.name = std::max(longest.name, TextWidth(row.name));
    longest.module = std::max(longest.module, TextWidth(row.module));
  }
  return {ColumnWidth(longest.name, options.max_name_column_width),
          ColumnWidth(longest.module, options.max_module_column_width)};
}

TableLayout MakeLayout(const Widths& widths) {
  TableLayout layout;
  layout.AddColumn("Name", widths.name, Align::kRight);
  for (const char* title :
       {"Self CPU %", "Self CPU", "CPU total %", "CPU total"}) {
    layout.AddColumn(title, kCellWidth, Align::kRight);
  }
  constexpr std::string_view kSamples = "Samples total";
  layout.AddColumn(std::string(kSamples), kSamples.size(), Align::kRight);
  layout.AddColumn("Module", widths.module, Align::kLeft);
  return layout;
}

}  // namespace

SampleTable MakeSampleTable(const model::Trace& trace) {
  SampleTable table;
  for (const analysis::SampledFunction& function :
       analysis::SampledFunctions(trace)) {
    table.rows.push_back(
        {.name = std::string(function.name == model::kEmptyName
                                 ? "[unknown]"
                                 : trace.Name(function.name)),
         .module = std::string(trace.Name(function.module)),
         .cpu_time_us = Microseconds(function.cpu_time_ns),
         .self_cpu_time_us = Microseconds(function.self_cpu_time_ns),
         .self_sample_count = function.self_sample_count,
         .sample_count = function.sample_count});
  }
  ForEachSampleWeight(trace, [&](const model::SampleSum& sum) {
    table.sampled_ns += sum.weight_ns;
    table.sample_count += static_cast<int64_t>(sum.count);
  });
  return table;
}

std::string SampleSortKey(const std::string& sort_by) {
  return sort_by == "cpu_time_total" || sort_by == "count"
             ? sort_by
             : "self_cpu_time_total";
}

absl::StatusOr<std::vector<SampleTableRow>> ShownSampleRows(
    const SampleTable& table, const SampleTableOptions& options) {
  std::vector<SampleTableRow> rows = table.rows;
  KYMO_RETURN_IF_ERROR(Sort(options.sort_by, rows));
  if (options.row_limit >= 0 && rows.size() > size_t(options.row_limit)) {
    rows.resize(size_t(options.row_limit));
  }
  return rows;
}

void MakeVisible(SampleTableRow& row) {
  row.name = VisibleText(row.name);
  row.module = VisibleText(row.module);
}

absl::StatusOr<std::string> FormatSampleTable(
    SampleTable table, const SampleTableOptions& options) {
  if (table.rows.empty()) return std::string();
  for (SampleTableRow& row : table.rows) MakeVisible(row);
  KYMO_ASSIGN_OR_RETURN(const std::vector<SampleTableRow> rows,
                        ShownSampleRows(table, options));
  const Widths widths = Measure(table, options);
  const TableLayout layout = MakeLayout(widths);
  const double total_us = Microseconds(table.sampled_ns);
  const auto time = [&](double us) {
    return FormatTime(us, options.time_unit);
  };

  std::string out;
  if (options.header.has_value()) {
    layout.AppendBanner(out);
    absl::StrAppend(&out, *options.header, "\n");
  }
  layout.AppendRule(out);
  layout.AppendTitles(out);
  layout.AppendRule(out);
  for (const SampleTableRow& row : rows) {
    const std::string cells[] = {
        NameCell(row.name, options.max_name_column_width),
        ShareOrDash(row.self_cpu_time_us, total_us),
        time(row.self_cpu_time_us),
        ShareOrDash(row.cpu_time_us, total_us),
        time(row.cpu_time_us),
        std::to_string(row.sample_count),
        PathCell(row.module, widths.module)};
    layout.AppendRow(out, cells);
  }
  layout.AppendRule(out);
  absl::StrAppend(&out, "Sampled CPU time total: ", time(total_us),
                  "\nNumber of samples: ", table.sample_count, "\n");
  return out;
}

}  // namespace kymo::report
