#include "profiler/report/fitted_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "profiler/text/short_name.h"
#include "profiler/text/text_cells.h"

namespace kymo::report {
namespace {

constexpr size_t kLeastNameWidth = 30;
constexpr size_t kGap = 2;

constexpr double kHotShare = 0.10;
constexpr double kColdShare = 0.01;

constexpr char kBold[] = "\033[1m";
constexpr char kRed[] = "\033[31m";
constexpr char kDim[] = "\033[2m";
constexpr char kPlain[] = "\033[0m";

struct ShownColumn {
  size_t index;  // in the table
  size_t width;
};

size_t TotalWidth(const std::vector<ShownColumn>& columns) {
  size_t width = 0;
  for (const ShownColumn& column : columns) width += column.width + kGap;
  return width - kGap;
}

// Every column as wide as its texts.
std::vector<ShownColumn> WholeColumns(const FittedTable& table) {
  std::vector<ShownColumn> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    size_t width = TextWidth(table.columns[i].title);
    for (const FittedRow& row : table.rows) {
      width = std::max(width, TextWidth(row.cells[i]));
    }
    columns.push_back({i, width});
  }
  return columns;
}

// Drops columns and narrows the names until all fits.
std::vector<ShownColumn> FitColumns(const FittedTable& table, size_t width) {
  std::vector<ShownColumn> columns = WholeColumns(table);
  const auto drop = [&](const ShownColumn& column) {
    return table.columns[column.index].drop;
  };
  while (true) {
    const size_t total = TotalWidth(columns);
    if (total <= width) return columns;
    const size_t excess = total - width;
    const auto names =
        std::find_if(columns.begin(), columns.end(), [&](const auto& column) {
          return table.columns[column.index].fit == Fit::kName;
        });
    const auto last = std::max_element(
        columns.begin(), columns.end(),
        [&](const auto& a, const auto& b) { return drop(a) < drop(b); });
    if (names != columns.end() && names->width >= kLeastNameWidth + excess) {
      names->width -= excess;
      return columns;
    }
    if (drop(*last) > 0) {
      columns.erase(last);
      continue;
    }
    if (names != columns.end()) {
      const size_t least =
          std::min(names->width, TextWidth(table.columns[names->index].title));
      names->width -= std::min(excess, names->width - least);
    }
    return columns;
  }
}

std::string_view ColorOf(double share) {
  if (share >= kHotShare) return kRed;
  return share < kColdShare ? kDim : "";
}

class Lines {
 public:
  explicit Lines(bool color) : color_(color) {}

  // Ends the line with `text`, in `color` unless that is empty.
  void Add(std::string text, std::string_view color) {
    text.erase(text.find_last_not_of(' ') + 1);
    const bool colored = color_ && !color.empty();
    if (colored) out_ += color;
    out_ += text;
    if (colored) out_ += kPlain;
    out_ += '\n';
  }
  std::string Take() { return std::move(out_); }

 private:
  const bool color_;
  std::string out_;
};

}  // namespace

std::string FormatFittedTable(const FittedTable& table,
                              const FittedTableOptions& options) {
  if (table.rows.empty()) return std::string();
  const std::vector<ShownColumn> columns = FitColumns(table, options.width);
  const auto line = [&](auto cell_of) {
    std::string text;
    for (const ShownColumn& column : columns) {
      if (!text.empty()) text.append(kGap, ' ');
      const Fit fit = table.columns[column.index].fit;
      AppendPadded(text, cell_of(column), column.width,
                   fit == Fit::kNumber ? Align::kRight : Align::kLeft);
    }
    return text;
  };
  Lines lines(options.color);
  lines.Add(line([&](const ShownColumn& column) {
              return table.columns[column.index].title;
            }),
            kBold);
  lines.Add(line([](const ShownColumn& column) {
              return std::string(column.width, '-');
            }),
            "");
  for (const FittedRow& row : table.rows) {
    lines.Add(line([&](const ShownColumn& column) {
                const std::string& cell = row.cells[column.index];
                return table.columns[column.index].fit == Fit::kName
                           ? ShortName(cell, column.width)
                           : cell;
              }),
              ColorOf(row.share));
  }
  return lines.Take();
}

}  // namespace kymo::report
