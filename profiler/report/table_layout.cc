#include "profiler/report/table_layout.h"

#include <algorithm>

namespace kymo::report {

void TableLayout::AppendBanner(std::string& out) const {
  size_t length = 0;
  for (const Column& column : columns_) length += column.width + 2;
  out.append(length - std::min<size_t>(length, 2), '=');
  out += '\n';
}

void TableLayout::AppendRule(std::string& out) const {
  for (const Column& column : columns_) {
    out.append(column.width, '-');
    out += "  ";
  }
  out += '\n';
}

void TableLayout::AppendTitles(std::string& out) const {
  for (const Column& column : columns_) {
    AppendPadded(out, column.title, column.width, column.align);
    out += "  ";
  }
  out += '\n';
}

void TableLayout::AppendRow(std::string& out,
                            std::span<const std::string> cells) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    AppendPadded(out, cells[i], columns_[i].width, columns_[i].align);
    out += "  ";
  }
  out += '\n';
}

size_t ColumnWidth(size_t longest, std::optional<int> limit) {
  const size_t width = longest + 4;
  if (!limit.has_value()) return width;
  return std::min(width, static_cast<size_t>(std::max(*limit, 0)));
}

std::string NameCell(std::string_view name, std::optional<int> limit) {
  if (!limit.has_value()) return std::string(name);
  const size_t kept = static_cast<size_t>(std::max(*limit - 3, 0));
  if (TextWidth(name) < kept) return std::string(name);
  return std::string(TakeFirst(name, kept)) + "...";
}

std::string PathCell(std::string_view path, size_t width) {
  if (TextWidth(path) <= width) return std::string(path);
  const std::string_view kept = TakeLast(path, width);
  if (width <= 3) return std::string(kept);
  return "..." + std::string(TakeLast(kept, width - 3));
}

}  // namespace kymo::report
