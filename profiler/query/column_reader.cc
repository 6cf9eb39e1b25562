#include "profiler/query/column_reader.h"

#include <algorithm>

namespace kymo::query {

ColumnReader::Value ColumnReader::At(Row row) const {
  Value value;
  uint8_t valid = 1;
  switch (column_->type) {
    case tables::ColumnType::kText:
      tables_->Texts(*column_, row, row + 1, &value.text);
      break;
    case tables::ColumnType::kDouble:
      tables_->Doubles(*column_, row, row + 1, &value.real, &valid);
      break;
    case tables::ColumnType::kInt64:
    case tables::ColumnType::kBool:
      tables_->Int64s(*column_, row, row + 1, &value.number, &valid);
      break;
  }
  value.is_valid = valid != 0;
  return value;
}

// A query that skips rows (by a condition on another column) reads nothing
// ahead; one that takes each row reads twice as far each time.
ColumnReader::Value ColumnReader::ReadAhead(const RowSet& rows) {
  constexpr size_t kMostAhead = 256;
  if (!rows.is_list()) return At(rows.row());
  const size_t left = rows.left();
  const bool goes_on = left == end_left_ && !ahead_.empty();
  const size_t count = std::min(
      left, goes_on ? std::min(kMostAhead, 2 * ahead_.size()) : size_t{1});
  ahead_.resize(count);
  for (size_t i = 0; i < count; ++i) ahead_[i] = At(rows.RowAhead(i));
  first_left_ = left;
  end_left_ = left - count;
  return ahead_[0];
}

}  // namespace kymo::query
