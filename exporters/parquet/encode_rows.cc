#include "exporters/parquet/encode_rows.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "profiler/base/column.h"
#include "profiler/base/strings.h"
#include "profiler/text/utf8.h"

namespace kymo::parquet {
namespace {

using tables::ColumnType;
using tables::kNoText;
using tables::TextId;
using tables::TraceTables;

Type ParquetType(ColumnType type) {
  switch (type) {
    case ColumnType::kBool:
      return Type::kBool;
    case ColumnType::kInt64:
      return Type::kInt64;
    case ColumnType::kDouble:
      return Type::kDouble;
    case ColumnType::kText:
      break;
  }
  return Type::kText;
}

// The texts of a row group, each of them once.
class Dictionary {
 public:
  Dictionary(const TraceTables& tables, size_t rows)
      : tables_(tables), is_dense_(tables.text_count() <= kDensePart * rows) {
    if (is_dense_) index_of_id_.assign(tables.text_count(), kNone);
  }

  uint32_t IndexOf(TextId id) {
    uint32_t& index = is_dense_
                          ? index_of_id_[Index(id)]
                          : sparse_.try_emplace(Index(id), kNone).first->second;
    if (index == kNone) index = Add(id);
    return index;
  }

  const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  // An array of all ids is faster than a map, unless most of it is not used.
  static constexpr size_t kDensePart = 8;

  // Several ids may have one text, and several names one form in UTF-8.
  uint32_t Add(TextId id) {
    std::string scratch;
    std::string_view text = json::ToUtf8(tables_.Text(id), scratch);
    if (!scratch.empty() && text.data() == scratch.data()) {
      text = changed_.emplace_back(std::move(scratch));
    }
    const auto [it, is_new] = index_of_text_.try_emplace(
        ToAbsl(text), static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return it->second;
  }

  const TraceTables& tables_;
  const bool is_dense_;
  std::vector<uint32_t> index_of_id_;
  absl::flat_hash_map<uint32_t, uint32_t> sparse_;
  absl::flat_hash_map<absl::string_view, uint32_t> index_of_text_;
  std::vector<std::string_view> texts_;
  std::deque<std::string> changed_;
};

EncodedColumn EncodeNulls(const Column& column, size_t rows) {
  const std::vector<uint8_t> is_present(rows, 0);
  return EncodeColumn(column, rows, {.is_present = is_present});
}

EncodedColumn EncodeTexts(const TraceTables& tables,
                          const tables::Column& column, size_t begin,
                          size_t end) {
  const size_t rows = end - begin;
  kymo::Column<TextId> ids(rows);
  tables.Texts(column, begin, end, ids.data());
  const bool is_null =
      std::ranges::all_of(ids, [](TextId id) { return id == kNoText; });
  if (is_null) return EncodeNulls(ParquetColumn(column), rows);
  kymo::Column<uint32_t> text(rows);
  std::vector<uint8_t> is_present(column.is_nullable ? rows : 0, 1);
  Dictionary dictionary(tables, rows);
  for (size_t i = 0; i < rows; ++i) {
    if (ids[i] == kNoText) {
      is_present[i] = 0;
      text[i] = 0;
    } else if (i > 0 && ids[i] == ids[i - 1]) {
      text[i] = text[i - 1];
    } else {
      text[i] = dictionary.IndexOf(ids[i]);
    }
  }
  return EncodeColumn(ParquetColumn(column), rows,
                      {.is_present = is_present,
                       .text = text,
                       .dictionary = dictionary.texts()});
}

}  // namespace

Column ParquetColumn(const tables::Column& column) {
  return {.name = std::string(column.name),
          .type = ParquetType(column.type),
          .is_nullable = column.is_nullable};
}

void ReadFirstRows(const TraceTables& tables, const tables::Column& column,
                   size_t rows) {
  for (const size_t row : {size_t{0}, rows - 1}) {
    if (rows == 0) return;
    TextId id;
    int64_t number;
    double real;
    switch (column.type) {
      case ColumnType::kText:
        tables.Texts(column, row, row + 1, &id);
        if (id != kNoText) tables.Text(id);
        break;
      case ColumnType::kDouble:
        tables.Doubles(column, row, row + 1, &real, nullptr);
        break;
      case ColumnType::kInt64:
      case ColumnType::kBool:
        tables.Int64s(column, row, row + 1, &number, nullptr);
        break;
    }
  }
}

EncodedColumn EncodeRows(const TraceTables& tables,
                         const tables::Column& column, size_t begin,
                         size_t end) {
  const size_t rows = end - begin;
  const Column parquet = ParquetColumn(column);
  if (tables.IsEmpty(column)) return EncodeNulls(parquet, rows);
  if (parquet.type == Type::kText) {
    return EncodeTexts(tables, column, begin, end);
  }
  kymo::Column<uint8_t> is_present(column.is_nullable ? rows : 0);
  uint8_t* const valid = column.is_nullable ? is_present.data() : nullptr;
  if (parquet.type == Type::kDouble) {
    kymo::Column<double> doubles(rows);
    tables.Doubles(column, begin, end, doubles.data(), valid);
    return EncodeColumn(parquet, rows,
                        {.is_present = is_present, .doubles = doubles});
  }
  kymo::Column<int64_t> ints(rows);
  tables.Int64s(column, begin, end, ints.data(), valid);
  if (parquet.type == Type::kInt64) {
    return EncodeColumn(parquet, rows,
                        {.is_present = is_present, .ints = ints});
  }
  kymo::Column<uint8_t> bools(rows);
  for (size_t i = 0; i < rows; ++i) bools[i] = ints[i] != 0 ? 1 : 0;
  return EncodeColumn(parquet, rows,
                      {.is_present = is_present, .bools = bools});
}

}  // namespace kymo::parquet
