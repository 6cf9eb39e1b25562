#include "profiler/report/value_table.h"

#include <algorithm>
#include <cstddef>

#include "profiler/base/time.h"
#include "profiler/report/table_layout.h"
#include "profiler/text/text_cells.h"
#include "profiler/text/visible_text.h"

namespace kymo::report {
namespace {

double NumberOf(const Value& value) {
  if (const auto* const integer = std::get_if<int64_t>(&value)) {
    return static_cast<double>(*integer);
  }
  const auto* const number = std::get_if<double>(&value);
  return number == nullptr ? 0 : *number;
}

}  // namespace

std::string ValueText(const Value& value, Unit unit,
                      const ValueTableOptions& options) {
  if (std::holds_alternative<std::monostate>(value)) return "--";
  if (const auto* const text = std::get_if<std::string>(&value)) {
    return NameCell(*text, options.max_text_width);
  }
  const double number = NumberOf(value);
  switch (unit) {
    case Unit::kText:
    case Unit::kCount:
      break;
    case Unit::kNs:
      return FormatTime(number / kNsPerUs, options.time_unit);
    case Unit::kBytes:
      return FormatBytes(static_cast<int64_t>(number));
    case Unit::kNumber:
      return FormatFixed(number, 2);
    case Unit::kShare:
      return FormatFixed(number * 100, 2) + "%";
    case Unit::kBytesPerSecond:
      return FormatFixed(number / 1e9, 2) + " GB/s";
  }
  return FormatFixed(number, 0);
}

ValueTable VisibleTable(ValueTable table) {
  for (std::vector<Value>& row : table.rows) {
    for (Value& value : row) {
      auto* const text = std::get_if<std::string>(&value);
      if (text != nullptr) *text = VisibleText(*text);
    }
  }
  return table;
}

std::string FormatValueTable(const ValueTable& table,
                             const ValueTableOptions& options) {
  if (table.rows.empty()) return std::string();
  size_t shown = table.rows.size();
  if (options.row_limit >= 0) {
    shown = std::min(shown, static_cast<size_t>(options.row_limit));
  }
  std::vector<std::vector<std::string>> cells(shown);
  std::vector<size_t> widths;
  for (const ValueColumn& column : table.columns) {
    const size_t least = column.unit == Unit::kText ? 0 : kCellWidth;
    widths.push_back(std::max(least, TextWidth(column.title)));
  }
  for (size_t row = 0; row < shown; ++row) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      cells[row].push_back(
          ValueText(table.rows[row][i], table.columns[i].unit, options));
      widths[i] = std::max(widths[i], TextWidth(cells[row].back()));
    }
  }
  TableLayout layout;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    layout.AddColumn(
        table.columns[i].title, widths[i],
        table.columns[i].unit == Unit::kText ? Align::kLeft : Align::kRight);
  }
  std::string out;
  layout.AppendRule(out);
  layout.AppendTitles(out);
  layout.AppendRule(out);
  for (const std::vector<std::string>& row : cells) layout.AppendRow(out, row);
  layout.AppendRule(out);
  return out;
}

}  // namespace kymo::report
