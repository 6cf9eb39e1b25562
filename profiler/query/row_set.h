// row_set.h - the rows of a table that a query needs, in the order that it
// needs.
//
//   RowSet rows;
//   rows.SetRanges({{0, 10}});
//   rows.Restrict({{5, 20}});               // 5 .. 10
//   rows.Order(index.RowsInOrder());        // the same rows in this order
//   for (rows.Begin(false); !rows.AtEnd(); rows.Next()) Use(rows.row());
//
// Threads: none.
#ifndef KYMO_PROFILER_QUERY_ROW_SET_H_
#define KYMO_PROFILER_QUERY_ROW_SET_H_

#include <cstddef>
#include <span>
#include <vector>

#include "profiler/query/column_index.h"

namespace kymo::query {

class RowSet {
 public:
  void SetRanges(std::vector<RowRange> ranges);
  // `rows` must outlive this, or the next call that sets rows.
  void SetList(std::span<const Row> rows);

  // Keeps the rows that are in one of `ranges`. Both are ascending.
  void Restrict(const std::vector<RowRange>& ranges);

  // Puts the rows into the order that they have in `all_in_order`, which has
  // every row of the table and must outlive this.
  void Order(std::span<const Row> all_in_order);

  size_t size() const;

  void Begin(bool backwards);
  bool AtEnd() const { return left_ == 0; }
  Row row() const { return row_; }
  // How many rows are left, with the current one.
  size_t left() const { return left_; }
  // Whether rows come in an order of their own.
  bool is_list() const { return is_list_; }
  // How many rows can be read at once, with the current one: all that are left
  // of a list, or those that follow one another.
  size_t ahead() const {
    if (is_list_) return left_;
    return backwards_ ? 1 : ranges_[place_].end - row_;
  }
  // The row that comes after `steps` calls of Next. REQUIRES: is_list() and
  // steps < left().
  Row RowAhead(size_t steps) const {
    return list_[backwards_ ? place_ - steps : place_ + steps];
  }
  void Next() {
    if (--left_ != 0) Step();
  }

 private:
  void Step();

  bool is_list_ = false;
  std::vector<RowRange> ranges_;
  std::span<const Row> list_;
  std::vector<Row> own_list_;

  bool backwards_ = false;
  size_t left_ = 0;
  size_t place_ = 0;  // in list_, or in ranges_
  Row row_ = 0;
};

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_ROW_SET_H_
