#include "profiler/query/column_reader.h"

#include <algorithm>

namespace kymo::query {

using tables::ColumnType;

ColumnReader::Value ColumnReader::AheadAt(size_t place) const {
  Value value;
  if (column_->type == ColumnType::kText) {
    value.text = texts_[place];
    return value;
  }
  if (column_->type == ColumnType::kDouble) {
    value.real = reals_[place];
  } else {
    value.number = numbers_[place];
  }
  value.is_valid = valid_[place] != 0;
  return value;
}

// The current row and those that come after it.
void ColumnReader::ReadRows(size_t count, const RowSet& rows) {
  const bool is_list = rows.is_list();
  const size_t begin = rows.row();
  const size_t end = begin + count;
  if (is_list) {
    rows_.resize(count);
    for (size_t i = 0; i < count; ++i) rows_[i] = rows.RowAhead(i);
  }
  valid_.resize(count);
  switch (column_->type) {
    case ColumnType::kText:
      texts_.resize(count);
      if (is_list) {
        tables_->TextsAt(*column_, rows_, texts_.data());
      } else {
        tables_->Texts(*column_, begin, end, texts_.data());
      }
      break;
    case ColumnType::kDouble:
      reals_.resize(count);
      if (is_list) {
        tables_->DoublesAt(*column_, rows_, reals_.data(), valid_.data());
      } else {
        tables_->Doubles(*column_, begin, end, reals_.data(), valid_.data());
      }
      break;
    case ColumnType::kInt64:
    case ColumnType::kBool:
      numbers_.resize(count);
      if (is_list) {
        tables_->Int64sAt(*column_, rows_, numbers_.data(), valid_.data());
      } else {
        tables_->Int64s(*column_, begin, end, numbers_.data(), valid_.data());
      }
      break;
  }
}

// A query that skips rows (by a condition on another column) reads nothing
// ahead; one that takes each row reads twice as far each time.
ColumnReader::Value ColumnReader::ReadAhead(const RowSet& rows) {
  constexpr size_t kMostAhead = 256;
  const size_t left = rows.left();
  const bool goes_on = left == end_left_ && first_left_ > end_left_;
  const size_t wanted =
      goes_on ? std::min(kMostAhead, 2 * (first_left_ - end_left_)) : 1;
  const size_t count = std::min(wanted, rows.ahead());
  ReadRows(count, rows);
  first_left_ = left;
  end_left_ = left - count;
  return AheadAt(0);
}

}  // namespace kymo::query
