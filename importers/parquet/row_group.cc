#include "importers/parquet/row_group.h"

#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "profiler/base/parallel.h"
#include "profiler/base/status_macros.h"

namespace kymo::parquet_import {
namespace {

absl::StatusOr<std::vector<size_t>> FindColumns(
    const parquet::FileReader& file, std::span<const ColumnWish> wishes) {
  std::vector<size_t> columns;
  for (const ColumnWish& wish : wishes) {
    const std::optional<size_t> column = file.FindColumn(wish.name);
    if (!column || file.schema().columns[*column].type != wish.type) {
      return absl::InvalidArgumentError(absl::StrCat(
          file.path(), ": column '", std::string(wish.name),
          column ? "' has another type than Kymo's" : "' is missing"));
    }
    columns.push_back(*column);
  }
  return columns;
}

}  // namespace

absl::Status ForEachRowGroup(
    const parquet::FileReader& file, std::span<const ColumnWish> wishes,
    model::StringTable& strings,
    const std::function<absl::Status(const RowGroup&)>& take) {
  KYMO_ASSIGN_OR_RETURN(const std::vector<size_t> columns,
                        FindColumns(file, wishes));
  // One for all groups: each group would touch tens of MiB anew.
  RowGroup group;
  group.columns_.resize(columns.size());
  for (size_t g = 0; g < file.group_count(); ++g) {
    group.rows_ = file.group_rows(g);
    std::vector<absl::Status> statuses(columns.size());
    ParallelForEach(columns.size(), [&](size_t i) {
      RowGroup::OneColumn& column = group.columns_[i];
      statuses[i] = file.Read(g, columns[i], column.data);
      const auto& present = column.data.is_present;
      column.is_null =
          !present.empty() &&
          std::memchr(present.data(), 1, present.size()) == nullptr;
    });
    for (const absl::Status& status : statuses) {
      KYMO_RETURN_IF_ERROR(status);
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      RowGroup::OneColumn& column = group.columns_[i];
      column.names.clear();
      for (const std::string_view text : column.data.dictionary) {
        column.names.push_back(strings.Intern(text));
      }
    }
    KYMO_RETURN_IF_ERROR(take(group));
  }
  return absl::OkStatus();
}

}  // namespace kymo::parquet_import
