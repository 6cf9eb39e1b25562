// row_group.h - some columns of a table, one row group after the other.
//
//   constexpr ColumnWish kWishes[] = {{"track_id", Type::kInt64},
//                                     {"name", Type::kText}};
//   KYMO_RETURN_IF_ERROR(ForEachRowGroup(
//       file, kWishes, shard.strings, [&](const RowGroup& group) {
//         for (size_t row = 0; row < group.rows(); ++row) {
//           Use(group.Int(0, row), group.Name(1, row));
//         }
//         return absl::OkStatus();
//       }));
//
// The columns of a row group are decoded in parallel. Texts are interned once
// for each row group.
//
// Errors:  those of FileReader, and of the function. kInvalidArgument: the file
//   lacks a column, or has it with another type.
// Threads: one call at a time.
#ifndef KYMO_IMPORTERS_PARQUET_ROW_GROUP_H_
#define KYMO_IMPORTERS_PARQUET_ROW_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "profiler/model/string_table.h"
#include "profiler/parquet/file_reader.h"

namespace kymo::parquet_import {

struct ColumnWish {
  std::string_view name;
  parquet::Type type = parquet::Type::kInt64;
};

class RowGroup {
 public:
  size_t rows() const { return rows_; }

  // Of the wish with that number, which is of the type.
  bool Has(size_t column, size_t row) const {
    return columns_[column].data.Has(row);
  }
  // Where there is no value, these are 0, false and the empty name. Text() is
  // for rows that have one.
  int64_t Int(size_t column, size_t row) const {
    return columns_[column].data.ints[row];
  }
  double Double(size_t column, size_t row) const {
    return columns_[column].data.doubles[row];
  }
  bool Bool(size_t column, size_t row) const {
    return columns_[column].data.bools[row] != 0;
  }
  model::NameId Name(size_t column, size_t row) const {
    return Has(column, row) ? columns_[column].names[Text(column, row)]
                            : model::kEmptyName;
  }
  // Of all rows.
  std::span<const int64_t> Ints(size_t column) const {
    return columns_[column].data.ints;
  }
  std::span<const uint8_t> Bools(size_t column) const {
    return columns_[column].data.bools;
  }
  // 1 where the row has a value. Empty: each row has one.
  std::span<const uint8_t> Present(size_t column) const {
    return columns_[column].data.is_present;
  }
  // The number of the text in the row group's dictionary, and the text.
  uint32_t Text(size_t column, size_t row) const {
    return columns_[column].data.text[row];
  }
  std::string_view TextOf(size_t column, size_t row) const {
    return Has(column, row)
               ? columns_[column].data.dictionary[Text(column, row)]
               : std::string_view();
  }

  std::span<const std::string_view> DictionaryOf(size_t column) const {
    return columns_[column].data.dictionary;
  }
  // No row has a value.
  bool IsNull(size_t column) const { return columns_[column].is_null; }

  int64_t IntOr(size_t column, size_t row, int64_t none) const {
    return Has(column, row) ? Int(column, row) : none;
  }

 private:
  friend absl::Status ForEachRowGroup(
      const parquet::FileReader&, std::span<const ColumnWish>,
      model::StringTable&, const std::function<absl::Status(const RowGroup&)>&);

  struct OneColumn {
    parquet::ColumnData data;
    std::vector<model::NameId> names;  // of the dictionary
    bool is_null = false;
  };

  size_t rows_ = 0;
  std::vector<OneColumn> columns_;
};

absl::Status ForEachRowGroup(
    const parquet::FileReader& file, std::span<const ColumnWish> wishes,
    model::StringTable& strings,
    const std::function<absl::Status(const RowGroup&)>& take);

}  // namespace kymo::parquet_import

#endif  // KYMO_IMPORTERS_PARQUET_ROW_GROUP_H_
