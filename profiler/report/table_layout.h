// table_layout.h - columns of padded cells between rules, as PyTorch prints.
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
// Every cell, the last one included, is followed by two spaces. A text wider
// than its column shifts what follows.
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

  // A line of `=` as long as a row without its last two spaces.
  void AppendBanner(std::string& out) const;
  // A line of `-` below each column.
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

// Width of a column for texts of at most `longest` code points.
size_t ColumnWidth(size_t longest, std::optional<int> limit);

// A name as the name column shows it: cut to `limit` with "..." at the end,
// already when it is within three of the limit.
std::string NameCell(std::string_view name, std::optional<int> limit);

// A path cut to its last `width` code points, the first three being "...".
std::string PathCell(std::string_view path, size_t width);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_TABLE_LAYOUT_H_
