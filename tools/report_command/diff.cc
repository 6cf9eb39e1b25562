#include "tools/report_command/diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "profiler/analysis/wait_names.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/base/time.h"
#include "profiler/model/waits.h"
#include "profiler/report/table_layout.h"
#include "profiler/text/json_writer.h"
#include "profiler/text/text_cells.h"

namespace kymo::tools {
namespace {

using report::TableRow;

constexpr std::string_view kMetrics[] = {
    "cpu_time_total",         "device_time_total",  "self_cpu_time_total",
    "self_device_time_total", report::kWaitSortKey,
};

double MetricOf(const TableRow& row, std::string_view metric) {
  if (metric == "cpu_time_total") return row.cpu_time_total_us;
  if (metric == "device_time_total") return row.device_time_total_us;
  if (metric == "self_cpu_time_total") return row.self_cpu_time_total_us;
  if (metric == report::kWaitSortKey) return row.wait_time_total_us.value_or(0);
  return row.self_device_time_total_us;
}

// Sums of microseconds differ in their last bits. Sums that differ by less than
// a picosecond are the same.
constexpr double kSameUs = 1e-6;

constexpr size_t kKindWidth = 15;  // "condition, idle"

const char* ChangeName(Change change) {
  static constexpr const char* kNames[] = {"slower", "faster", "new", "gone",
                                           "same"};
  return kNames[static_cast<size_t>(change)];
}

auto KeyOf(const TableRow& row) {
  return std::tie(row.key, row.device, row.is_user_annotation,
                  row.overload_name, row.input_shapes, row.stack);
}

struct KeyLess {
  bool operator()(const TableRow* a, const TableRow* b) const {
    return KeyOf(*a) < KeyOf(*b);
  }
};

Change ChangeOf(const DiffRow& row) {
  if (!row.is_before) return Change::kNew;
  if (!row.is_after) return Change::kGone;
  if (std::abs(row.after_us - row.before_us) < kSameUs) return Change::kSame;
  return row.after_us > row.before_us ? Change::kSlower : Change::kFaster;
}

std::string Signed(double us, std::string_view time_unit) {
  return absl::StrCat(us < 0 ? "-" : "+",
                      report::FormatTime(std::abs(us), time_unit));
}

std::string Percent(double before, double after) {
  if (before == 0) return "--";
  return absl::StrFormat("%+.2f%%", 100 * (after - before) / before);
}

// Whether a row's time counts in the total. For a device's time, only rows of
// the device count: the rows of operations that launched its work repeat it.
bool IsOfTotal(const TableRow& row, std::string_view metric) {
  return metric == "self_cpu_time_total" || metric == report::kWaitSortKey ||
         (row.device == report::RowDevice::kDevice && !row.is_user_annotation);
}

bool HasDeviceTime(std::span<const TableRow> rows) {
  return std::any_of(rows.begin(), rows.end(), [](const TableRow& row) {
    return row.self_device_time_total_us > 0;
  });
}

}  // namespace

absl::StatusOr<RowDiff> DiffRows(std::span<const TableRow> before,
                                 std::span<const TableRow> after,
                                 std::string_view metric, DiffOf of) {
  if (metric.empty()) {
    metric = HasDeviceTime(before) || HasDeviceTime(after)
                 ? "self_device_time_total"
                 : "self_cpu_time_total";
  }
  if (std::find(std::begin(kMetrics), std::end(kMetrics), metric) ==
      std::end(kMetrics)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--diff compares by one of: ",
        absl::StrJoin(
            kMetrics, ", ",
            [](std::string* out, std::string_view name) { out->append(name); }),
        "; not by '", ToAbsl(metric), "'"));
  }
  std::map<const TableRow*, DiffRow, KeyLess> rows;
  for (const TableRow& row : before) {
    DiffRow& diff = rows[&row];
    diff.row = &row;
    diff.is_before = true;
    diff.before_us += MetricOf(row, metric);
    diff.count_before += row.count;
  }
  for (const TableRow& row : after) {
    DiffRow& diff = rows[&row];
    diff.row = &row;
    diff.is_after = true;
    diff.after_us += MetricOf(row, metric);
    diff.count_after += row.count;
  }
  RowDiff result;
  result.metric_ = metric;
  result.of_ = of;
  for (auto& [key, diff] : rows) {
    diff.change = ChangeOf(diff);
    result.rows_.push_back(diff);
  }
  std::stable_sort(result.rows_.begin(), result.rows_.end(),
                   [](const DiffRow& a, const DiffRow& b) {
                     return std::abs(a.after_us - a.before_us) >
                            std::abs(b.after_us - b.before_us);
                   });
  return result;
}

namespace {

std::string_view FileName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::vector<report::TableRow> WaitRowsOf(const model::Trace& trace,
                                         std::string_view main_module) {
  analysis::WaitPlaces places(trace);
  std::vector<report::TableRow> rows;
  for (const analysis::WaitGroup& group : analysis::WaitsByPlace(trace)) {
    report::TableRow& row = rows.emplace_back();
    const analysis::WaitPlace at = places.At(group.stack);
    row.key = at.name;
    row.overload_name = std::string(NameOf(group.kind));
    if (group.is_idle) row.overload_name += ", idle";
    const std::string_view file = FileName(at.module);
    if (!main_module.empty() && !file.empty() &&
        file != FileName(main_module)) {
      absl::StrAppend(&row.overload_name, " (", ToAbsl(file), ")");
    }
    row.count = static_cast<int64_t>(group.count);
    row.wait_time_total_us = static_cast<double>(group.duration_ns) / kNsPerUs;
  }
  return rows;
}

size_t RowDiff::CountOf(Change change) const {
  return static_cast<size_t>(
      std::count_if(rows_.begin(), rows_.end(),
                    [&](const DiffRow& row) { return row.change == change; }));
}

std::string RowDiff::Text(TextFormat format,
                          const report::TableOptions& table) const {
  if (format == TextFormat::kText) return PlainText(table);
  if (format == TextFormat::kCsv) return Data(table).Csv();
  std::string text;
  json::JsonWriter json(text);
  json.BeginObject();
  WriteMembers(table, json);
  json.EndObject();
  return text + "\n";
}

void RowDiff::WriteMembers(const report::TableOptions& table,
                           json::JsonWriter& json) const {
  json.Member("metric", metric_);
  for (size_t c = 0; c < static_cast<size_t>(Change::kCount); ++c) {
    const Change change = static_cast<Change>(c);
    json.Member(ChangeName(change), static_cast<int64_t>(CountOf(change)));
  }
  json.Key("rows");
  Data(table).WriteJson(json);
}

std::string RowDiff::PlainText(const report::TableOptions& table) const {
  using report::Align;
  using report::kCellWidth;
  size_t longest = 0;
  for (const DiffRow& diff : rows_) {
    longest = std::max(longest, report::TextWidth(diff.row->key));
  }
  report::TableLayout layout;
  layout.AddColumn("Name",
                   report::ColumnWidth(longest, table.max_name_column_width),
                   Align::kRight);
  const bool is_ranges = of_ == DiffOf::kRanges;
  const bool is_waits = of_ == DiffOf::kWaits;
  if (is_waits) layout.AddColumn("Kind", kKindWidth, Align::kRight);
  for (const char* const title :
       {"Change", "Before", "After", "Difference", "Difference %",
        is_ranges ? "Calls before" : "# before",
        is_ranges ? "Calls after" : "# after"}) {
    layout.AddColumn(title, kCellWidth, Align::kRight);
  }
  std::string out;
  layout.AppendRule(out);
  layout.AppendTitles(out);
  layout.AppendRule(out);
  int shown = 0;
  for (const DiffRow& diff : rows_) {
    if (shown++ == table.row_limit) break;
    std::vector<std::string> cells = {
        report::NameCell(diff.row->key, table.max_name_column_width),
        ChangeName(diff.change),
        report::FormatTime(diff.before_us, table.time_unit),
        report::FormatTime(diff.after_us, table.time_unit),
        Signed(diff.after_us - diff.before_us, table.time_unit),
        Percent(diff.before_us, diff.after_us),
        absl::StrCat(diff.count_before),
        absl::StrCat(diff.count_after)};
    if (is_waits) cells.insert(cells.begin() + 1, diff.row->overload_name);
    layout.AppendRow(out, cells);
  }
  layout.AppendRule(out);
  return out + Totals(table);
}

std::string RowDiff::Totals(const report::TableOptions& table) const {
  double before_us = 0;
  double after_us = 0;
  for (const DiffRow& diff : rows_) {
    if (!IsOfTotal(*diff.row, metric_)) continue;
    before_us += diff.before_us;
    after_us += diff.after_us;
  }
  std::string out;
  // Total times of nested ranges cannot be added up.
  if (metric_.starts_with("self_") || of_ == DiffOf::kWaits) {
    absl::StrAppend(&out, metric_, ": ",
                    report::FormatTime(before_us, table.time_unit), " -> ",
                    report::FormatTime(after_us, table.time_unit), " (",
                    Signed(after_us - before_us, table.time_unit), ", ",
                    Percent(before_us, after_us), ")\n");
  }
  for (size_t c = 0; c < static_cast<size_t>(Change::kCount); ++c) {
    const Change change = static_cast<Change>(c);
    absl::StrAppend(&out, c == 0 ? "" : ", ", CountOf(change), " ",
                    ChangeName(change));
  }
  return out + "\n";
}

DataTable RowDiff::Data(const report::TableOptions& table) const {
  if (of_ == DiffOf::kSampledFunctions) {
    return PlaceData(table, "module", "samples");
  }
  if (of_ == DiffOf::kWaits) return PlaceData(table, "kind", "waits");
  DataTable data({"name", "change", "before_us", "after_us", "difference_us",
                  "count_before", "count_after", "is_device",
                  "is_user_annotation", "overload_name", "input_shapes",
                  "stack"});
  int shown = 0;
  for (const DiffRow& diff : rows_) {
    if (shown++ == table.row_limit) break;
    const TableRow& row = *diff.row;
    data.AddRow({row.key, std::string(ChangeName(diff.change)), diff.before_us,
                 diff.after_us, diff.after_us - diff.before_us,
                 diff.count_before, diff.count_after,
                 row.device == report::RowDevice::kDevice,
                 row.is_user_annotation, row.overload_name, row.input_shapes,
                 row.stack});
  }
  return data;
}

DataTable RowDiff::PlaceData(const report::TableOptions& table,
                             const char* second, const char* counted) const {
  DataTable data({"name", second, "change", "before_us", "after_us",
                  "difference_us", absl::StrCat(counted, "_before"),
                  absl::StrCat(counted, "_after")});
  int shown = 0;
  for (const DiffRow& diff : rows_) {
    if (shown++ == table.row_limit) break;
    data.AddRow({diff.row->key, diff.row->overload_name,
                 std::string(ChangeName(diff.change)), diff.before_us,
                 diff.after_us, diff.after_us - diff.before_us,
                 diff.count_before, diff.count_after});
  }
  return data;
}

}  // namespace kymo::tools
