#include "profiler/query/result_writer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/text/csv_field.h"
#include "profiler/text/json_text.h"
#include "profiler/text/markdown_cell.h"
#include "profiler/text/text_cells.h"
#include "profiler/text/visible_text.h"

namespace kymo::query {
namespace {

constexpr size_t kPendingBytes = 1 << 16;
// A longer text makes only its own line of a table longer.
constexpr size_t kMostPadding = 200;

std::string NumberText(double value) {
  // JSON has no number for it: it would be a text in quotes.
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  std::string text;
  json::AppendDouble(text, value);
  return text;
}

// As people read it.
struct PlainText {
  std::string operator()(std::monostate) const { return "NULL"; }
  std::string operator()(const std::string& text) const {
    return VisibleText(text);
  }
  std::string operator()(int64_t value) const { return absl::StrCat(value); }
  std::string operator()(double value) const { return NumberText(value); }
};

struct AppendJsonValue {
  std::string& out;

  void operator()(std::monostate) const { out += "null"; }
  void operator()(const std::string& text) const {
    json::AppendJsonString(out, text);
  }
  void operator()(int64_t value) const { json::AppendInt(out, value); }
  void operator()(double value) const { json::AppendDouble(out, value); }
};

// A name that comes again gets a number: "x", "x:1".
void MakeUnique(std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string name = names[i];
    for (int n = 1; std::find(names.begin(), names.begin() + std::ptrdiff_t(i),
                              names[i]) != names.begin() + std::ptrdiff_t(i);
         ++n) {
      names[i] = absl::StrCat(name, ":", n);
    }
  }
}

}  // namespace

absl::Status ResultWriter::Begin(std::vector<std::string> columns) {
  columns_ = std::move(columns);
  kept_.clear();
  kept_bytes_ = 0;
  rows_ = 0;
  if (format_ == ResultFormat::kJson) {
    MakeUnique(columns_);
    pending_ += '[';
  } else if (format_ == ResultFormat::kCsv) {
    AppendCsv(std::vector<QueryValue>(columns_.begin(), columns_.end()));
  }
  return Flush(false);
}

absl::Status ResultWriter::Add(std::span<const QueryValue> row) {
  if (format_ == ResultFormat::kCsv) {
    AppendCsv(row);
  } else if (format_ == ResultFormat::kJson) {
    AppendJson(row);
  } else {
    KYMO_RETURN_IF_ERROR(Keep(row));
  }
  ++rows_;
  return Flush(false);
}

absl::Status ResultWriter::End() {
  if (format_ == ResultFormat::kJson) {
    pending_ += rows_ == 0 ? "]\n" : "\n]\n";
  } else if (format_ != ResultFormat::kCsv) {
    AppendKept();
  }
  return Flush(true);
}

absl::Status ResultWriter::Flush(bool all) {
  if (pending_.empty() || (!all && pending_.size() < kPendingBytes)) {
    return absl::OkStatus();
  }
  const std::string text = std::exchange(pending_, "");
  return output_(text);
}

void ResultWriter::AppendCsv(std::span<const QueryValue> row) {
  for (size_t i = 0; i < row.size(); ++i) {
    if (!std::holds_alternative<std::monostate>(row[i])) {
      AppendCsvField(std::visit(PlainText(), row[i]), pending_);
    }
    pending_ += i + 1 == row.size() ? "\r\n" : ",";
  }
}

void ResultWriter::AppendJson(std::span<const QueryValue> row) {
  pending_ += rows_ == 0 ? "\n{" : ",\n{";
  for (size_t i = 0; i < row.size(); ++i) {
    if (i != 0) pending_ += ", ";
    json::AppendJsonString(pending_, columns_[i]);
    pending_ += ": ";
    std::visit(AppendJsonValue{pending_}, row[i]);
  }
  pending_ += '}';
}

absl::Status ResultWriter::Keep(std::span<const QueryValue> row) {
  std::vector<Cell>& cells = kept_.emplace_back();
  cells.reserve(row.size());
  for (const QueryValue& value : row) {
    cells.push_back({std::visit(PlainText(), value),
                     std::holds_alternative<int64_t>(value) ||
                         std::holds_alternative<double>(value)});
    if (format_ == ResultFormat::kMarkdown) {
      cells.back().text = MarkdownCell(cells.back().text);
    }
    kept_bytes_ +=
        static_cast<int64_t>(sizeof(Cell) + cells.back().text.capacity());
  }
  kept_bytes_ += static_cast<int64_t>(sizeof(cells));
  if (max_kept_bytes_ == 0 || kept_bytes_ <= max_kept_bytes_) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "the result takes more than ", max_kept_bytes_ >> 20,
      " MiB as a table; use --format=csv or json, which are written row by "
      "row, or LIMIT"));
}

void ResultWriter::AppendKeptRow(const std::vector<Cell>& cells,
                                 const std::vector<size_t>& widths) {
  const bool is_markdown = format_ == ResultFormat::kMarkdown;
  std::string line = is_markdown ? "| " : "";
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i != 0) line += is_markdown ? " | " : "  ";
    report::AppendPadded(
        line, cells[i].text, widths[i],
        cells[i].is_number ? report::Align::kRight : report::Align::kLeft);
  }
  if (is_markdown) {
    line += " |";
  } else {
    line.resize(line.find_last_not_of(' ') + 1);
  }
  pending_ += line + "\n";
}

void ResultWriter::AppendKept() {
  std::vector<Cell> head;
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    std::string name = VisibleText(columns_[i]);
    if (format_ == ResultFormat::kMarkdown) name = MarkdownCell(name);
    // A column of numbers has its name above them.
    const bool is_number =
        !kept_.empty() && std::ranges::any_of(kept_, [&](const auto& row) {
          return row[i].is_number;
        });
    size_t width = std::max<size_t>(3, report::TextWidth(name));
    for (const std::vector<Cell>& row : kept_) {
      width = std::max(width,
                       std::min(report::TextWidth(row[i].text), kMostPadding));
    }
    for (std::vector<Cell>& row : kept_) row[i].is_number = is_number;
    head.push_back({std::move(name), is_number});
    widths.push_back(width);
  }
  AppendKeptRow(head, widths);
  std::vector<Cell> rule;
  for (size_t i = 0; i < widths.size(); ++i) {
    std::string line(widths[i], '-');
    if (format_ == ResultFormat::kMarkdown && head[i].is_number) {
      line.back() = ':';
    }
    rule.push_back({std::move(line), false});
  }
  AppendKeptRow(rule, widths);
  for (const std::vector<Cell>& row : kept_) AppendKeptRow(row, widths);
  kept_.clear();
}

}  // namespace kymo::query
