#include "profiler/query/column_index.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "profiler/base/parallel_sort.h"

namespace kymo::query {
namespace {

using tables::ColumnType;
using tables::TextId;

constexpr size_t kChunk = 4096;
// With more runs than this, bisecting each of them takes longer than it saves.
constexpr size_t kMostRuns = 4096;
constexpr uint32_t kNull = ~uint32_t{0};

// Reads a column of ints in chunks: visit(first row, values, valid).
template <typename Visit>
void ForEachChunk(const tables::TraceTables& tables,
                  const tables::Column& column, size_t rows,
                  const Visit& visit) {
  std::vector<int64_t> values(std::min(rows, kChunk));
  std::vector<uint8_t> valid(values.size());
  for (size_t begin = 0; begin < rows; begin += kChunk) {
    const size_t end = std::min(rows, begin + kChunk);
    tables.Int64s(column, begin, end, values.data(), valid.data());
    if (!visit(begin, std::span<const int64_t>(values).first(end - begin),
               std::span<const uint8_t>(valid).first(end - begin))) {
      return;
    }
  }
}

}  // namespace

ColumnIndex::ColumnIndex(const tables::TraceTables& tables,
                         const tables::Table& table,
                         const tables::Column& column)
    : tables_(tables), column_(column), rows_(tables.RowCount(table)) {
  if (column.type == ColumnType::kInt64) FindRuns();
}

void ColumnIndex::FindRuns() {
  int64_t last = std::numeric_limits<int64_t>::max();
  ForEachChunk(tables_, column_, rows_,
               [&](size_t begin, std::span<const int64_t> values,
                   std::span<const uint8_t> valid) {
                 for (size_t i = 0; i < values.size(); ++i) {
                   if (valid[i] == 0 || runs_.size() > kMostRuns) {
                     runs_.clear();
                     return false;
                   }
                   if (values[i] < last || begin + i == 0) {
                     runs_.push_back(static_cast<Row>(begin + i));
                   }
                   last = values[i];
                 }
                 return true;
               });
}

int64_t ColumnIndex::IntAt(size_t row) const {
  int64_t value = 0;
  tables_.Int64s(column_, row, row + 1, &value, nullptr);
  return value;
}

std::vector<RowRange> ColumnIndex::RangesOfInts(int64_t least,
                                                int64_t most) const {
  std::vector<RowRange> ranges;
  const auto bisect = [&](Row begin, Row end, const auto& is_before) {
    while (begin < end) {
      const Row middle = begin + (end - begin) / 2;
      if (is_before(IntAt(middle))) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  };
  for (size_t i = 0; i < runs_.size(); ++i) {
    const Row end =
        i + 1 < runs_.size() ? runs_[i + 1] : static_cast<Row>(rows_);
    const Row first =
        bisect(runs_[i], end, [&](int64_t v) { return v < least; });
    const Row last = bisect(first, end, [&](int64_t v) { return v <= most; });
    if (first == last) continue;
    if (!ranges.empty() && ranges.back().end == first) {
      ranges.back().end = last;
    } else {
      ranges.push_back({first, last});
    }
  }
  return ranges;
}

std::span<const Row> ColumnIndex::RowsOfInt(int64_t value) {
  Sort();
  const std::span<const Row> rows(order_);
  if (!first_.empty()) {
    if (value < base_) return {};
    const uint64_t number =
        static_cast<uint64_t>(value) - static_cast<uint64_t>(base_);
    if (number + 1 >= first_.size()) return {};
    return rows.subspan(first_[number], first_[number + 1] - first_[number]);
  }
  const auto begin =
      std::partition_point(rows.begin() + std::ptrdiff_t(null_count_),
                           rows.end(), [&](Row r) { return IntAt(r) < value; });
  const auto end = std::partition_point(
      begin, rows.end(), [&](Row r) { return IntAt(r) == value; });
  return {begin, end};
}

std::span<const Row> ColumnIndex::RowsOfText(std::string_view value) {
  Sort();
  const auto it =
      std::partition_point(ranked_.begin(), ranked_.end(),
                           [&](TextId id) { return tables_.Text(id) < value; });
  if (it == ranked_.end() || tables_.Text(*it) != value) return {};
  const auto rank = static_cast<size_t>(it - ranked_.begin());
  return std::span<const Row>(order_).subspan(first_[rank],
                                              first_[rank + 1] - first_[rank]);
}

std::span<const Row> ColumnIndex::RowsInOrder() {
  Sort();
  return order_;
}

std::optional<size_t> ColumnIndex::value_count() const {
  if (!is_sorted_ || first_.empty()) return std::nullopt;
  return first_.size() - 1;
}

void ColumnIndex::Sort() {
  if (is_sorted_) return;
  is_sorted_ = true;
  if (column_.type == ColumnType::kText) {
    SortTexts();
  } else {
    SortInts();
  }
}

void ColumnIndex::SortInts() {
  std::vector<std::pair<int64_t, Row>> pairs;
  pairs.reserve(rows_);
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = std::numeric_limits<int64_t>::min();
  ForEachChunk(tables_, column_, rows_,
               [&](size_t begin, std::span<const int64_t> values,
                   std::span<const uint8_t> valid) {
                 for (size_t i = 0; i < values.size(); ++i) {
                   const auto row = static_cast<Row>(begin + i);
                   if (valid[i] == 0) {
                     order_.push_back(row);
                     continue;
                   }
                   least = std::min(least, values[i]);
                   most = std::max(most, values[i]);
                   pairs.emplace_back(values[i], row);
                 }
                 return true;
               });
  null_count_ = order_.size();
  if (pairs.empty()) return;
  const uint64_t width =
      static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
  if (width < 4 * rows_ + kChunk) {
    base_ = least;
    std::vector<uint32_t> number(rows_, kNull);
    for (const auto& [value, row] : pairs) {
      number[row] = static_cast<uint32_t>(static_cast<uint64_t>(value) -
                                          static_cast<uint64_t>(least));
    }
    pairs = decltype(pairs)();
    CountingSort(number, width + 1);
    return;
  }
  ParallelSort(pairs.begin(), pairs.end(), std::less<>());
  order_.reserve(rows_);
  for (const auto& [value, row] : pairs) order_.push_back(row);
}

void ColumnIndex::SortTexts() {
  std::vector<TextId> ids(rows_);
  tables_.Texts(column_, 0, rows_, ids.data());
  // Texts are few and rows are many: each text is compared only once.
  std::vector<uint32_t> rank(tables_.text_count(), kNull);
  for (const TextId id : ids) {
    if (id == tables::kNoText || rank[Index(id)] != kNull) continue;
    rank[Index(id)] = 0;
    ranked_.push_back(id);
  }
  std::sort(ranked_.begin(), ranked_.end(), [&](TextId a, TextId b) {
    return tables_.Text(a) < tables_.Text(b);
  });
  size_t count = 0;
  for (const TextId id : ranked_) {
    // Several ids may have one text.
    if (count == 0 || tables_.Text(ranked_[count - 1]) != tables_.Text(id)) {
      ranked_[count++] = id;
    }
    rank[Index(id)] = static_cast<uint32_t>(count - 1);
  }
  ranked_.resize(count);
  std::vector<uint32_t> number(rows_);
  for (size_t row = 0; row < rows_; ++row) {
    number[row] = ids[row] == tables::kNoText ? kNull : rank[Index(ids[row])];
  }
  CountingSort(number, count);
}

void ColumnIndex::CountingSort(const std::vector<uint32_t>& number,
                               size_t count) {
  first_.assign(count + 1, 0);
  null_count_ = 0;
  for (const uint32_t n : number) {
    if (n == kNull) {
      ++null_count_;
    } else {
      ++first_[n + 1];
    }
  }
  first_[0] = static_cast<Row>(null_count_);
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<Row> next(first_.begin(), first_.end() - 1);
  order_.resize(rows_);
  Row next_null = 0;
  for (size_t row = 0; row < number.size(); ++row) {
    const uint32_t n = number[row];
    order_[n == kNull ? next_null++ : next[n]++] = static_cast<Row>(row);
  }
}

}  // namespace kymo::query
