// table_layout.h - columns of padded cells between rules, in PyTorch's layout.
//
//   TableLayout layout;
//   layout.AddColumn("Name", 9, Align::kRight);
//   layout.AddColumn("# of Calls", 12, Align::kRight);
//   std::string out;
//   layout.AppendRule(out);                       // "---------  ----...  \n"
//   layout.AppendTitles(out);
//   const std::vector<std::string> cells = {"a", "1"};
//   layout.AppendRow(out, cells);
//
// Two spaces follow every cell, the last one included. A text wider than its
// column shifts the cells behind it.
#ifndef KYMO_PROFILER_REPORT_TABLE_LAYOUT_H_
#define KYMO_PROFILER_REPORT_TABLE_LAYOUT_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/text/text_cells.h"

namespace kymo::report {

inline constexpr size_t kCellWidth = 12;

class TableLayout {
 public:
  void AddColumn(std::string title, size_t width, Align align) {
    columns_.push_back({std::move(title), width, align});
  }
  size_t column_count() const noexcept { return columns_.size(); }

  // A line of `=`, as long as a row without its last two spaces.
  void AppendBanner(std::string& out) const;
  // A line with `-` under each column.
  void AppendRule(std::string& out) const;
  void AppendTitles(std::string& out) const;
  // REQUIRES: one cell per column.
  void AppendRow(std::string& out, std::span<const std::string> cells) const;

 private:
  struct Column {
    std::string title;
    size_t width;
    Align align;
  };
  std::vector<Column> columns_;
};

// The width of a column whose longest text has `longest` code points.
size_t ColumnWidth(size_t longest, std::optional<int> limit);

// A name as the name column shows it. A name of `limit` - 3 code points or more
// is cut there and ends with "...".
std::string NameCell(std::string_view name, std::optional<int> limit);

// The last `width` code points of a longer path, the first three replaced by
// "...".
std::string PathCell(std::string_view path, size_t width);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_TABLE_LAYOUT_H_
