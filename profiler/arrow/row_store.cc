#include "profiler/arrow/row_store.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "profiler/text/utf8.h"

namespace kymo::arrow {
namespace {

constexpr size_t kBatchRows = size_t{1} << 16;
// Offsets of texts have 31 bits; a text of SQL has at most 64 MiB.
constexpr size_t kBatchBytes = size_t{1} << 30;

template <typename T>
void AppendNumber(T value, std::string& out) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out.append(text.data(), end);
}

}  // namespace

void ColumnStore::Add(double value) {
  Add(Kind::kDouble, std::bit_cast<int64_t>(value));
}

void ColumnStore::Add(std::string_view text) {
  std::string scratch;
  bytes_ += json::ToUtf8(text, scratch);
  Add(Kind::kText, static_cast<int64_t>(text_ends_.size()));
  text_ends_.push_back(bytes_.size());
}

size_t ColumnStore::memory_bytes() const {
  return kinds_.size() * (sizeof(Kind) + sizeof(int64_t)) + bytes_.size() +
         text_ends_.size() * sizeof(size_t);
}

Type ColumnStore::type() const {
  const auto bit = [](Kind kind) { return 1u << static_cast<unsigned>(kind); };
  const unsigned seen = seen_ & ~bit(Kind::kNull);
  if (seen == 0) return Type::kNull;
  if (seen == bit(Kind::kBool)) return Type::kBool;
  if (seen == bit(Kind::kInt)) return Type::kInt64;
  if ((seen & ~bit(Kind::kInt)) == bit(Kind::kDouble)) return Type::kDouble;
  return Type::kText;
}

std::string_view ColumnStore::TextAt(size_t row) const {
  const auto number = static_cast<size_t>(bits_[row]);
  const size_t begin = number == 0 ? 0 : text_ends_[number - 1];
  return std::string_view(bytes_).substr(begin, text_ends_[number] - begin);
}

double ColumnStore::DoubleAt(size_t row) const {
  return kinds_[row] == Kind::kDouble ? std::bit_cast<double>(bits_[row])
                                      : static_cast<double>(bits_[row]);
}

void ColumnStore::AppendAsText(size_t row, std::string& out) const {
  switch (kinds_[row]) {
    case Kind::kNull:
      break;
    case Kind::kBool:
      out += bits_[row] != 0 ? "true" : "false";
      break;
    case Kind::kInt:
      AppendNumber(bits_[row], out);
      break;
    case Kind::kDouble:
      AppendNumber(DoubleAt(row), out);
      break;
    case Kind::kText:
      out += TextAt(row);
      break;
  }
}

size_t ColumnStore::BatchEnd(size_t begin, size_t most) const {
  size_t bytes = 0;
  for (size_t row = begin; row < most; ++row) {
    if (kinds_[row] != Kind::kText) continue;
    bytes += TextAt(row).size();
    if (bytes > kBatchBytes) return std::max(row, begin + 1);
  }
  return most;
}

Values ColumnStore::Take(Type type, size_t begin, size_t end) const {
  Values values;
  const size_t rows = end - begin;
  if (type == Type::kNull) return values;
  Column<uint8_t> bytes(rows);
  for (size_t i = 0; i < rows; ++i) {
    bytes[i] = kinds_[begin + i] != Kind::kNull ? 1 : 0;
  }
  SetValidity(bytes, values);
  switch (type) {
    case Type::kBool:
      for (size_t i = 0; i < rows; ++i) bytes[i] = bits_[begin + i] != 0;
      values.bits = PackBits(bytes);
      break;
    case Type::kInt64:
      values.ints.assign(bits_.begin() + static_cast<std::ptrdiff_t>(begin),
                         bits_.begin() + static_cast<std::ptrdiff_t>(end));
      break;
    case Type::kDouble:
      values.doubles.resize(rows);
      for (size_t i = 0; i < rows; ++i) {
        values.doubles[i] = DoubleAt(begin + i);
      }
      break;
    case Type::kNull:
    case Type::kText:
      values.offsets.assign(1, 0);
      for (size_t row = begin; row < end; ++row) {
        AppendAsText(row, values.bytes);
        values.offsets.push_back(static_cast<int32_t>(values.bytes.size()));
      }
      break;
  }
  return values;
}

size_t RowStore::memory_bytes() const {
  size_t bytes = 0;
  for (const ColumnStore& column : columns_) bytes += column.memory_bytes();
  return bytes;
}

std::shared_ptr<const StoredRows> RowStore::Finish() && {
  auto stored = std::make_shared<StoredRows>();
  stored->rows = columns_.empty() ? 0 : columns_[0].size();
  std::vector<Batch> batches;
  for (size_t begin = 0; begin < stored->rows;) {
    size_t end = std::min(stored->rows, begin + kBatchRows);
    for (const ColumnStore& column : columns_) {
      end = column.BatchEnd(begin, end);
    }
    batches.push_back({.rows = end - begin});
    begin = end;
  }
  for (size_t c = 0; c < columns_.size(); ++c) {
    const Type type = columns_[c].type();
    stored->schema.fields.push_back({std::move(names_[c]), type});
    size_t begin = 0;
    for (Batch& batch : batches) {
      batch.columns.push_back(
          columns_[c].Take(type, begin, begin + batch.rows));
      begin += batch.rows;
    }
    columns_[c] = ColumnStore();
  }
  for (Batch& batch : batches) {
    stored->batches.push_back(std::make_shared<const Batch>(std::move(batch)));
  }
  return stored;
}

}  // namespace kymo::arrow
