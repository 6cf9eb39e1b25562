// column_index.h - finds the rows of a table by the values of one column.
//
//   ColumnIndex index(tables, table, column);
//   index.RowsOfText("aten::mm")          // {3, 17}: rows, ascending
//   index.RangesOfInts(1000, 2000)        // {{0, 5}, {90, 97}}: [begin, end)
//   index.RowsInOrder()                   // all rows by value; NULL first
//
// Many columns ascend: ids, tracks, and within each track the times. Such a
// column needs no index: the runs in which it ascends are searched by
// bisection. For others the rows are sorted by value, with 4 bytes a row.
//
// Texts are ordered by their bytes, as SQLite's collation BINARY does.
// Threads: none; parts are made when they are first asked for.
// Cost: a pass over the column when it is made. RowsInOrder: a counting sort,
//   or where values are far apart a sort.
#ifndef KYMO_PROFILER_QUERY_COLUMN_INDEX_H_
#define KYMO_PROFILER_QUERY_COLUMN_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/tables/table.h"
#include "profiler/tables/trace_tables.h"

namespace kymo::query {

using Row = uint32_t;

struct RowRange {
  Row begin = 0;
  Row end = 0;

  friend bool operator==(const RowRange&, const RowRange&) = default;
};

class ColumnIndex {
 public:
  // `tables` must outlive this. REQUIRES: the column has no doubles.
  ColumnIndex(const tables::TraceTables& tables, const tables::Table& table,
              const tables::Column& column);

  // Whether the column ascends in few runs.
  bool has_runs() const { return !runs_.empty(); }
  size_t run_count() const { return runs_.size(); }

  // The rows whose value is from `least` to `most`. REQUIRES: has_runs().
  std::vector<RowRange> RangesOfInts(int64_t least, int64_t most) const;

  // Rows in ascending order. REQUIRES: a column of ints or texts, by name.
  std::span<const Row> RowsOfInt(int64_t value);
  std::span<const Row> RowsOfText(std::string_view value);

  // Rows with equal values ascend.
  std::span<const Row> RowsInOrder();

  // How many different values there are, if it is known.
  std::optional<size_t> value_count() const;

 private:
  void FindRuns();
  int64_t IntAt(size_t row) const;
  void Sort();
  void SortInts();
  void SortTexts();
  // Sorts rows by number; NULL where there is none. `count` numbers.
  void CountingSort(const std::vector<uint32_t>& number, size_t count);

  const tables::TraceTables& tables_;
  const tables::Column& column_;
  const size_t rows_;
  std::vector<Row> runs_;  // where each begins

  bool is_sorted_ = false;
  std::vector<Row> order_;  // all rows; NULLs first
  size_t null_count_ = 0;
  // By number (value less base, or rank of text): where its rows begin in
  // order_. Empty: values are far apart, and found by bisection.
  std::vector<Row> first_;
  int64_t base_ = 0;
  std::vector<tables::TextId> ranked_;  // texts by rank
};

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_COLUMN_INDEX_H_
