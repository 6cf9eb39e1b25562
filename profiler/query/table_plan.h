// table_plan.h - how the rows that a query asks for are found in a table.
//
//   PlanChoice choice = ChoosePlan(table, wishes, order);
//   RowSet rows;
//   FindRows(choice.steps, values, indexes, rows);
//
// A query has wishes: column, comparison, and whether the value will be known
// when the table is read. The plan says which of them narrow down the rows, and
// whether the rows come out in the order that the query asks for. SQLite checks
// every condition again, so a plan may find too many rows but never too few.
//
// A plan is a text ("=4>6|o4"), which SQLite keeps for us between planning and
// reading: an operator and a column each; after '|', the order: 'o' ascending
// or 'd' descending, and a column.
#ifndef KYMO_PROFILER_QUERY_TABLE_PLAN_H_
#define KYMO_PROFILER_QUERY_TABLE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "profiler/query/column_index.h"
#include "profiler/query/row_set.h"
#include "profiler/tables/table.h"
#include "profiler/tables/trace_tables.h"

namespace kymo::query {

enum class Comparison : char {
  kEqual = '=',
  kLess = '<',
  kLessOrEqual = 'l',
  kGreater = '>',
  kGreaterOrEqual = 'g',
};

struct Wish {
  int column = 0;
  Comparison comparison = Comparison::kEqual;
};

struct Order {
  int column = 0;
  bool descending = false;
};

struct PlanChoice {
  std::string steps;
  std::vector<bool> is_used;  // by wish: FindRows gets its value
  bool is_ordered = false;
  bool is_one_row = false;  // at most one
  double rows = 0;          // estimated
  double cost = 0;          // in rows read one after the other
};

// The indexes of the columns of one table, made when they are first needed.
class TableIndexes {
 public:
  // Both must outlive this.
  TableIndexes(const tables::TraceTables& tables, const tables::Table& table)
      : tables_(tables), table_(table) {}

  const tables::Table& table() const { return table_; }
  size_t row_count() const { return tables_.RowCount(table_); }
  ColumnIndex& Of(int column);

 private:
  const tables::TraceTables& tables_;
  const tables::Table& table_;
  std::map<int, std::unique_ptr<ColumnIndex>> indexes_;
};

// `order`: by which column rows should be sorted, if by one.
PlanChoice ChoosePlan(TableIndexes& indexes, const std::vector<Wish>& wishes,
                      const std::optional<Order>& order);

// A value that a column is compared with. monostate: it cannot be used, for
// example a text for a column of numbers.
struct Null {};
using PlanValue =
    std::variant<std::monostate, Null, int64_t, double, std::string_view>;

// `values`: those of the wishes that are used, in their order. Leaves `rows` at
// the first row.
void FindRows(std::string_view steps, std::span<const PlanValue> values,
              TableIndexes& indexes, RowSet& rows);

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_TABLE_PLAN_H_
