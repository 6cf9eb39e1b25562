// column_reader.h - values of one column, for the rows of a RowSet.
//
//   ColumnReader reader(tables, column);
//   for (rows.Begin(false); !rows.AtEnd(); rows.Next()) {
//     Use(reader.Read(rows).number);
//   }
//
// A call for each value would take longer than most values do. And rows in the
// order of an index lie anywhere in memory, where one value after the other
// would wait for one cache line after the other. So a column that is read row
// by row is read ahead, in a loop that waits for many lines at once.
//
// Threads: none.
#ifndef KYMO_PROFILER_QUERY_COLUMN_READER_H_
#define KYMO_PROFILER_QUERY_COLUMN_READER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/query/row_set.h"
#include "profiler/tables/table.h"
#include "profiler/tables/trace_tables.h"

namespace kymo::query {

class ColumnReader {
 public:
  // The member of the column's type.
  struct Value {
    union {
      int64_t number = 0;
      double real;
      tables::TextId text;  // kNoText where there is none
    };
    bool is_valid = true;
  };

  // Both must outlive this.
  ColumnReader(const tables::TraceTables& tables, const tables::Column& column)
      : tables_(&tables), column_(&column) {}

  tables::ColumnType type() const { return column_->type; }

  // The value of the current row.
  Value Read(const RowSet& rows) {
    const size_t left = rows.left();
    if (left <= first_left_ && left > end_left_) {
      return AheadAt(first_left_ - left);
    }
    return ReadAhead(rows);
  }

  // The RowSet begins anew.
  void Forget() {
    first_left_ = 0;
    end_left_ = 0;
  }

 private:
  Value ReadAhead(const RowSet& rows);
  void ReadRows(size_t count, const RowSet& rows);
  Value AheadAt(size_t place) const;

  const tables::TraceTables* tables_;
  const tables::Column* column_;
  // Of the rows after which `first_left_` down to `end_left_` + 1 rows are
  // left, with themselves. The vector of the column's type has them.
  std::vector<int64_t> numbers_;
  std::vector<double> reals_;
  std::vector<tables::TextId> texts_;
  std::vector<uint8_t> valid_;
  std::vector<Row> rows_;  // that are read together
  size_t first_left_ = 0;
  size_t end_left_ = 0;
};

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_COLUMN_READER_H_
