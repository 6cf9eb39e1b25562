// result_writer.h - rows of a query as text, CSV, JSON or Markdown.
//
//   ResultWriter writer(ResultFormat::kCsv, [](std::string_view text) {
//     return Print(text);
//   });
//   KYMO_RETURN_IF_ERROR(writer.Begin({"name", "count"}));
//   KYMO_RETURN_IF_ERROR(writer.Add(row));
//   KYMO_RETURN_IF_ERROR(writer.End());
//
// CSV is that of RFC 4180 and JSON a list of objects; both are written row by
// row. Text and Markdown need the width of every value first, so they keep all
// rows until the end. NULL is nothing in CSV, null in JSON, and else NULL.
// Texts of the target stay on their line and command no terminal: control
// characters are escaped.
//
// Errors: those of the output. kResourceExhausted: too many rows to keep.
#ifndef KYMO_PROFILER_QUERY_RESULT_WRITER_H_
#define KYMO_PROFILER_QUERY_RESULT_WRITER_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "profiler/query/query.h"

namespace kymo::query {

enum class ResultFormat { kText, kCsv, kJson, kMarkdown };

class ResultWriter {
 public:
  using Output = std::function<absl::Status(std::string_view text)>;
  // `max_kept_bytes`: of the rows of a text or of Markdown; 0: any.
  ResultWriter(ResultFormat format, Output output, int64_t max_kept_bytes = 0)
      : format_(format),
        output_(std::move(output)),
        max_kept_bytes_(max_kept_bytes) {}

  // Begins a result. Columns may have equal names; in JSON these get numbers:
  // "x", "x:1".
  absl::Status Begin(std::vector<std::string> columns);
  absl::Status Add(std::span<const QueryValue> row);
  absl::Status End();

 private:
  struct Cell {
    std::string text;
    bool is_number = false;
  };

  // Writes what is pending, if it is much.
  absl::Status Flush(bool all);
  void AppendCsv(std::span<const QueryValue> row);
  void AppendJson(std::span<const QueryValue> row);
  absl::Status Keep(std::span<const QueryValue> row);
  void AppendKept();
  void AppendKeptRow(const std::vector<Cell>& cells,
                     const std::vector<size_t>& widths);

  const ResultFormat format_;
  const Output output_;
  const int64_t max_kept_bytes_;
  int64_t kept_bytes_ = 0;
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> kept_;
  size_t rows_ = 0;
  std::string pending_;
};

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_RESULT_WRITER_H_
