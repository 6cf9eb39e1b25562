#include "profiler/arrow/test_read.h"

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string_view>

namespace kymo::arrow {
namespace {

bool BitAt(const void* bits, int64_t at) {
  return (static_cast<const uint8_t*>(bits)[at / 8] >> (at % 8) & 1) != 0;
}

std::string ValueAt(char format, const Array& column, int64_t row) {
  const int64_t at = column.offset + row;
  if (format == 'n') return "-";
  if (column.buffers[0] != nullptr && !BitAt(column.buffers[0], at)) return "-";
  std::ostringstream text;
  switch (format) {
    case 'b':
      text << BitAt(column.buffers[1], at);
      break;
    case 'l':
      text << static_cast<const int64_t*>(column.buffers[1])[at];
      break;
    case 'g':
      text << static_cast<const double*>(column.buffers[1])[at];
      break;
    default: {
      const auto* const offsets =
          static_cast<const int32_t*>(column.buffers[1]);
      text << std::string_view(
          static_cast<const char*>(column.buffers[2]) + offsets[at],
          static_cast<size_t>(offsets[at + 1] - offsets[at]));
    }
  }
  return text.str();
}

}  // namespace

std::vector<std::string> RowsOfBatch(const std::vector<std::string>& fields,
                                     const Array& batch) {
  std::vector<std::string> rows(static_cast<size_t>(batch.length));
  for (int64_t c = 0; c < batch.n_children; ++c) {
    const std::string& field = fields[static_cast<size_t>(c)];
    const char format = field[field.find(':') + 1];
    const Array& column = *batch.children[c];
    int64_t nulls = 0;
    for (size_t row = 0; row < rows.size(); ++row) {
      const std::string value =
          ValueAt(format, column, static_cast<int64_t>(row));
      nulls += value == "-" ? 1 : 0;
      rows[row] += (c == 0 ? "" : "|") + value;
    }
    if (nulls != column.null_count || column.length != batch.length) {
      rows.push_back("wrong counts in " + field);
    }
  }
  return rows;
}

ReadRows ReadAll(Stream* stream) {
  ReadRows read;
  Schema schema = {};
  read.error = stream->get_schema(stream, &schema);
  for (int64_t c = 0; c < schema.n_children; ++c) {
    const Schema& field = *schema.children[c];
    read.fields.push_back(std::string(field.name) + ":" + field.format +
                          ((field.flags & kNullable) != 0 ? "?" : ""));
  }
  if (schema.release != nullptr) schema.release(&schema);
  while (read.error == 0) {
    Array batch = {};
    read.error = stream->get_next(stream, &batch);
    if (read.error != 0 || batch.release == nullptr) break;
    read.batch_rows.push_back(batch.length);
    for (std::string& row : RowsOfBatch(read.fields, batch)) {
      read.rows.push_back(std::move(row));
    }
    batch.release(&batch);
  }
  if (read.error != 0) {
    const char* const message = stream->get_last_error(stream);
    read.message = message == nullptr ? "" : message;
  }
  stream->release(stream);
  return read;
}

}  // namespace kymo::arrow
