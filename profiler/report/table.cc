#include "profiler/report/table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/time.h"
#include "profiler/report/table_layout.h"
#include "profiler/report/table_order.h"
#include "profiler/text/text_cells.h"
#include "profiler/text/visible_text.h"

namespace kymo::report {
namespace {

// The rows of `order` that the options do not hide.
std::vector<const TableRow*> Shown(const std::vector<const TableRow*>& order,
                                   const TableOptions& options) {
  std::vector<const TableRow*> shown;
  for (const TableRow* const row : order) {
    if (std::cmp_equal(shown.size(), options.row_limit)) break;
    if (options.top_level_events_only && row->has_parent) continue;
    shown.push_back(row);
  }
  return shown;
}

// --- Facts about all rows --------------------------------------------------

struct FlopsScale {
  std::string title;
  double factor = 1;
};

// The scale that fits the smallest number of FLOPs above 0; nothing without
// one.
std::optional<FlopsScale> ScaleFlops(std::span<const TableRow> rows) {
  static constexpr std::array<const char*, 6> kTitles = {
      "FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"};
  double least = 0;
  for (const TableRow& row : rows) {
    if (row.flops > 0 && (least == 0 || row.flops < least)) least = row.flops;
  }
  if (least == 0) return std::nullopt;
  const double level = std::floor(
      std::clamp(std::log10(least) / 3, 0.0, double(kTitles.size() - 1)));
  return FlopsScale{absl::StrCat("Total ", kTitles[size_t(level)]),
                    std::pow(10, -3.0 * level)};
}

struct Facts {
  bool has_device_time = false;
  bool has_device_memory = false;
  bool has_shapes = false;
  bool has_overloads = false;
  bool has_stack = false;
  bool has_node_id = false;
  size_t longest_name = 0;  // lengths count code points
  size_t longest_shapes = 0;
  size_t longest_source = 0;
  double self_cpu_us = 0;
  double self_device_us = 0;
  std::optional<FlopsScale> flops;
};

// Whether a row's shapes justify a column.
bool HasShapes(const TableRow& row) {
  const std::string& text = row.input_shapes;
  return !text.empty() && text != "[]" && text != "None";
}

// Adds up in display order with plain additions, as PyTorch: the last bits of a
// sum can show in the text.
Facts Gather(std::span<const TableRow> rows,
             const std::vector<const TableRow*>& order,
             const TableOptions& options) {
  Facts facts;
  if (options.with_flops) facts.flops = ScaleFlops(rows);
  for (const TableRow* const row : order) {
    facts.has_device_time |= row->self_device_time_total_us > 0;
    facts.has_device_memory |= row->self_device_memory_usage_bytes > 0;
    facts.has_shapes |= HasShapes(*row);
    facts.has_overloads |= !row->overload_name.empty();
    facts.has_stack |= !row->stack.empty();
    facts.has_node_id |= row->node_id != -1;
    facts.longest_name = std::max(facts.longest_name, TextWidth(row->key));
    facts.longest_shapes =
        std::max(facts.longest_shapes, TextWidth(row->input_shapes));
    for (const std::string& entry : row->stack) {
      facts.longest_source = std::max(facts.longest_source, TextWidth(entry));
    }
    facts.self_cpu_us += row->self_cpu_time_total_us;
    const bool is_device_work = row->device == RowDevice::kCpu
                                    ? row->is_legacy
                                    : !row->is_user_annotation;
    if (is_device_work) facts.self_device_us += row->self_device_time_total_us;
  }
  return facts;
}

// --- The text --------------------------------------------------------------

class TableText {
 public:
  TableText(const Facts& facts, const TableOptions& options)
      : facts_(facts),
        options_(options),
        show_waits_(options.with_waits || options.sort_by == kWaitSortKey) {
    device_ = options.use_device.empty() ? "None" : options.use_device;
    if (!options.use_device.empty()) {
      for (char& c : device_) c = static_cast<char>(std::toupper(c));
    }
    show_device_memory_ = options.profile_memory &&
                          !options.use_device.empty() &&
                          facts.has_device_memory;
    name_width_ =
        ColumnWidth(facts.longest_name, options.max_name_column_width);
    shapes_width_ =
        ColumnWidth(facts.longest_shapes, options.max_shapes_column_width);
    source_width_ =
        ColumnWidth(facts.longest_source, options.max_src_column_width);
    AddNameColumns();
    AddTimeColumns();
    AddOtherColumns();
  }

  std::string Format(const std::vector<const TableRow*>& order) const {
    std::string out;
    AppendHead(out);
    for (const TableRow* const row : Shown(order, options_)) {
      AppendRow(out, *row);
    }
    AppendFoot(out);
    return out;
  }

 private:
  void Add(std::string title) {
    layout_.AddColumn(std::move(title), kCellWidth, Align::kRight);
  }

  void AddNameColumns() {
    layout_.AddColumn("Name", name_width_, Align::kRight);
    if (facts_.has_overloads) {
      layout_.AddColumn("Overload Name", name_width_, Align::kRight);
    }
  }

  void AddTimeColumns() {
    for (const char* title : {"Self CPU %", "Self CPU", "CPU total %",
                              "CPU total", "CPU time avg"}) {
      Add(title);
    }
    if (show_waits_) {
      for (const char* title : {"On CPU", "Wait time", "Wait %"}) Add(title);
    }
    if (!facts_.has_device_time) return;
    Add(absl::StrCat("Self ", device_));
    Add(absl::StrCat("Self ", device_, " %"));
    Add(absl::StrCat(device_, " total"));
    Add(absl::StrCat(device_, " time avg"));
  }

  void AddOtherColumns() {
    if (options_.profile_memory) {
      Add("CPU Mem");
      Add("Self CPU Mem");
    }
    if (show_device_memory_) {
      Add(absl::StrCat(device_, " Mem"));
      Add(absl::StrCat("Self ", device_, " Mem"));
    }
    Add("# of Calls");
    if (facts_.has_node_id) Add("Node ID");
    if (facts_.has_shapes) {
      layout_.AddColumn("Input Shapes", shapes_width_, Align::kRight);
    }
    if (facts_.has_stack) {
      layout_.AddColumn("Source Location", source_width_, Align::kLeft);
    }
    if (facts_.flops.has_value()) Add(facts_.flops->title);
  }

  void AppendHead(std::string& out) const {
    if (options_.header.has_value()) {
      layout_.AppendBanner(out);
      absl::StrAppend(&out, *options_.header, "\n");
    }
    if (options_.top_level_events_only) {
      layout_.AppendBanner(out);
      out += "This report only display top-level ops statistics\n";
    }
    layout_.AppendRule(out);
    layout_.AppendTitles(out);
    layout_.AppendRule(out);
  }

  void AppendFoot(std::string& out) const {
    layout_.AppendRule(out);
    absl::StrAppend(&out, "Self CPU time total: ", Time(facts_.self_cpu_us),
                    "\n");
    if (facts_.has_device_time) {
      absl::StrAppend(&out, "Self ", device_,
                      " time total: ", Time(facts_.self_device_us), "\n");
    }
  }

  void AppendRow(std::string& out, const TableRow& row) const {
    std::vector<std::string> cells;
    cells.push_back(NameCell(row.key, options_.max_name_column_width));
    if (facts_.has_overloads) {
      cells.push_back(
          NameCell(row.overload_name, options_.max_name_column_width));
    }
    AddTimeCells(row, cells);
    AddMemoryCells(row, cells);
    cells.push_back(std::to_string(row.count));
    if (facts_.has_node_id) cells.push_back(std::to_string(row.node_id));
    if (facts_.has_shapes) {
      cells.emplace_back(TakeFirst(row.input_shapes, shapes_width_));
    }
    // FLOPs before the stack, whatever the order of the titles: see the header.
    if (facts_.flops.has_value()) cells.push_back(Flops(row.flops));
    if (facts_.has_stack) {
      cells.push_back(row.stack.empty() ? "" : Source(row.stack.front()));
    }
    layout_.AppendRow(out, cells);
    if (facts_.has_stack) AppendStack(out, row);
  }

  void AddTimeCells(const TableRow& row,
                    std::vector<std::string>& cells) const {
    cells.push_back(
        FormatShare(row.self_cpu_time_total_us, facts_.self_cpu_us));
    cells.push_back(Time(row.self_cpu_time_total_us));
    cells.push_back(
        row.is_async ? "0"
                     : FormatShare(row.cpu_time_total_us, facts_.self_cpu_us));
    cells.push_back(Time(row.cpu_time_total_us));
    cells.push_back(Time(PerCall(row.cpu_time_total_us, row.count)));
    if (show_waits_) AddWaitCells(row, cells);
    if (!facts_.has_device_time) return;
    cells.push_back(Time(row.self_device_time_total_us));
    cells.push_back(
        FormatShare(row.self_device_time_total_us, facts_.self_device_us));
    cells.push_back(Time(row.device_time_total_us));
    cells.push_back(Time(PerCall(row.device_time_total_us, row.count)));
  }

  void AddWaitCells(const TableRow& row,
                    std::vector<std::string>& cells) const {
    if (!row.wait_time_total_us) {
      cells.insert(cells.end(), 3, "--");
      return;
    }
    const double wait_us = *row.wait_time_total_us;
    cells.push_back(Time(row.cpu_time_total_us - wait_us));
    cells.push_back(Time(wait_us));
    cells.push_back(row.cpu_time_total_us == 0
                        ? "--"
                        : FormatShare(wait_us, row.cpu_time_total_us));
  }

  void AddMemoryCells(const TableRow& row,
                      std::vector<std::string>& cells) const {
    if (options_.profile_memory) {
      cells.push_back(FormatMemory(row.cpu_memory_usage_bytes));
      cells.push_back(FormatMemory(row.self_cpu_memory_usage_bytes));
    }
    if (show_device_memory_) {
      cells.push_back(FormatMemory(row.device_memory_usage_bytes));
      cells.push_back(FormatMemory(row.self_device_memory_usage_bytes));
    }
  }

  // Appends the other frames of the stack, one a line, and an empty line.
  void AppendStack(std::string& out, const TableRow& row) const {
    std::vector<std::string> cells(layout_.column_count());
    for (size_t i = 1; i < row.stack.size(); ++i) {
      cells.back() = Source(row.stack[i]);
      layout_.AppendRow(out, cells);
    }
    cells.back().clear();
    layout_.AppendRow(out, cells);
  }

  std::string Time(double us) const {
    return FormatTime(us, options_.time_unit);
  }

  std::string Source(const std::string& entry) const {
    return PathCell(entry, source_width_);
  }

  std::string Flops(double flops) const {
    if (flops <= 0) return "--";
    std::string text;
    AppendPadded(text, FormatFixed(flops * facts_.flops->factor, 3), 8,
                 Align::kRight);
    return text;
  }

  const Facts& facts_;
  const TableOptions& options_;
  std::string device_;
  bool show_device_memory_ = false;
  const bool show_waits_;
  size_t name_width_ = 0;
  size_t shapes_width_ = 0;
  size_t source_width_ = 0;
  TableLayout layout_;
};

double Us(DurationNs ns) { return static_cast<double>(ns) / kNsPerUs; }

}  // namespace

void MakeVisible(TableRow& row) {
  for (std::string* const text :
       {&row.key, &row.overload_name, &row.input_shapes}) {
    *text = VisibleText(*text);
  }
  for (std::string& frame : row.stack) frame = VisibleText(frame);
}

absl::StatusOr<std::string> FormatTable(std::span<const TableRow> rows,
                                        const TableOptions& options) {
  if (rows.empty()) return std::string();
  std::vector<TableRow> visible(rows.begin(), rows.end());
  for (TableRow& row : visible) MakeVisible(row);
  rows = visible;
  KYMO_ASSIGN_OR_RETURN(const std::vector<const TableRow*> order,
                        DisplayOrder(rows, options.sort_by));
  const Facts facts = Gather(rows, order, options);
  if (facts.has_device_time && options.use_device.empty()) {
    return absl::InvalidArgumentError(
        "use_device is None, but there is device performance data.");
  }
  return TableText(facts, options).Format(order);
}

absl::StatusOr<std::vector<const TableRow*>> ShownRows(
    std::span<const TableRow> rows, const TableOptions& options) {
  KYMO_ASSIGN_OR_RETURN(const std::vector<const TableRow*> order,
                        DisplayOrder(rows, options.sort_by));
  return Shown(order, options);
}

std::vector<TableRow> TableRows(
    std::span<const analysis::KeyAverage> averages) {
  std::vector<TableRow> rows;
  rows.reserve(averages.size());
  for (const analysis::KeyAverage& average : averages) {
    TableRow& row = rows.emplace_back();
    row.key = average.name;
    row.device = average.is_device ? RowDevice::kDevice : RowDevice::kCpu;
    row.is_user_annotation = average.is_user_annotation;
    row.is_async = average.is_async;
    row.count = average.count;
    row.cpu_time_total_us = Us(average.cpu_time_total_ns);
    row.self_cpu_time_total_us = Us(average.self_cpu_time_total_ns);
    if (average.wait_time_total_ns) {
      row.wait_time_total_us = Us(*average.wait_time_total_ns);
    }
    row.device_time_total_us = Us(average.device_time_total_ns);
    row.self_device_time_total_us = Us(average.self_device_time_total_ns);
    row.cpu_memory_usage_bytes = average.cpu_memory_usage_bytes;
    row.self_cpu_memory_usage_bytes = average.self_cpu_memory_usage_bytes;
    row.device_memory_usage_bytes = average.device_memory_usage_bytes;
    row.self_device_memory_usage_bytes = average.self_device_memory_usage_bytes;
  }
  return rows;
}

}  // namespace kymo::report
