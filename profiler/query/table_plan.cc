#include "profiler/query/table_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kymo::query {
namespace {

using tables::Column;
using tables::ColumnType;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
// A column's letter in a plan. Tables have fewer columns than there are
// letters; table_plan_test holds them to it.
constexpr char kFirstColumn = '!';

bool IsId(const Column& column) { return column.name == "id"; }

bool CanUse(const Column& column, Comparison comparison) {
  switch (column.type) {
    case ColumnType::kDouble:
      return false;
    case ColumnType::kText:
    case ColumnType::kBool:
      return comparison == Comparison::kEqual;
    case ColumnType::kInt64:
      return true;
  }
  return false;
}

// How many rows have one value of the column.
double RowsOfValue(TableIndexes& indexes, int column) {
  const double rows = static_cast<double>(indexes.row_count());
  if (IsId(indexes.table().columns[static_cast<size_t>(column)])) return 1;
  const auto values = indexes.Of(column).value_count();
  if (values) return std::max(1.0, rows / static_cast<double>(*values));
  return std::max(1.0, std::sqrt(rows));
}

// An interval of ints, both ends included.
struct Bounds {
  int64_t least = kLeast;
  int64_t most = kMost;
};

// The ints that compare so with the value; nullopt: none. A value that cannot
// be used leaves all.
std::optional<Bounds> BoundsOf(Comparison comparison, const PlanValue& value) {
  if (std::holds_alternative<Null>(value)) return std::nullopt;
  int64_t number = 0;
  bool is_whole = true;
  if (const auto* const as_int = std::get_if<int64_t>(&value)) {
    number = *as_int;
  } else if (const auto* const as_double = std::get_if<double>(&value)) {
    // Beyond these, let SQLite compare.
    if (!(std::abs(*as_double) < 9e18)) return Bounds();
    number = static_cast<int64_t>(std::floor(*as_double));
    is_whole = static_cast<double>(number) == *as_double;
  } else {
    return Bounds();
  }
  switch (comparison) {
    case Comparison::kEqual:
      if (!is_whole) return std::nullopt;
      return Bounds{number, number};
    case Comparison::kGreaterOrEqual:
      if (is_whole) return Bounds{number, kMost};
      [[fallthrough]];
    case Comparison::kGreater:
      if (number == kMost) return std::nullopt;
      return Bounds{number + 1, kMost};
    case Comparison::kLess:
      if (is_whole) {
        if (number == kLeast) return std::nullopt;
        return Bounds{kLeast, number - 1};
      }
      [[fallthrough]];
    case Comparison::kLessOrEqual:
      return Bounds{kLeast, number};
  }
  return Bounds();
}

std::vector<RowRange> RangesOf(TableIndexes& indexes, int column,
                               const Bounds& bounds) {
  if (!IsId(indexes.table().columns[static_cast<size_t>(column)])) {
    return indexes.Of(column).RangesOfInts(bounds.least, bounds.most);
  }
  const auto rows = static_cast<int64_t>(indexes.row_count());
  const int64_t begin = std::clamp<int64_t>(bounds.least, 0, rows);
  const int64_t end = bounds.most < begin   ? begin
                      : bounds.most >= rows ? rows
                                            : bounds.most + 1;
  return {{static_cast<Row>(begin), static_cast<Row>(end)}};
}

// The rows of one value, sorted by an index; nullopt: all rows.
std::optional<std::span<const Row>> ListOf(TableIndexes& indexes, int column,
                                           const PlanValue& value) {
  ColumnIndex& index = indexes.Of(column);
  if (indexes.table().columns[static_cast<size_t>(column)].type ==
      ColumnType::kText) {
    const auto* const text = std::get_if<std::string_view>(&value);
    if (text != nullptr) return index.RowsOfText(*text);
    return std::nullopt;
  }
  const std::optional<Bounds> bounds = BoundsOf(Comparison::kEqual, value);
  if (!bounds) return std::span<const Row>();
  if (bounds->least != bounds->most) return std::nullopt;
  return index.RowsOfInt(bounds->least);
}

// Whether rows in their own order are in the order of the column.
bool Ascends(TableIndexes& indexes, int column) {
  const Column& c = indexes.table().columns[static_cast<size_t>(column)];
  return IsId(c) ||
         (c.type == ColumnType::kInt64 && indexes.Of(column).run_count() == 1);
}

// Whether the column's rows are found by bisection, without sorting them.
bool HasRanges(TableIndexes& indexes, int column) {
  const Column& c = indexes.table().columns[static_cast<size_t>(column)];
  return IsId(c) ||
         (c.type == ColumnType::kInt64 && indexes.Of(column).has_runs());
}

// Whether rows come out in order faster than SQLite sorts them. For some rows,
// RowSet::Order makes a pass over all rows. In the inner table of a join, that
// would be a pass for each row of the outer one.
bool SavesSorting(TableIndexes& indexes, const PlanChoice& choice,
                  const Order& order) {
  const Column& column =
      indexes.table().columns[static_cast<size_t>(order.column)];
  if (column.type == ColumnType::kDouble) return false;
  return choice.steps.empty() || choice.is_one_row ||
         Ascends(indexes, order.column);
}

}  // namespace

ColumnIndex& TableIndexes::Of(int column) {
  std::unique_ptr<ColumnIndex>& index = indexes_[column];
  if (index == nullptr) {
    index = std::make_unique<ColumnIndex>(
        tables_, table_, table_.columns[static_cast<size_t>(column)]);
  }
  return *index;
}

PlanChoice ChoosePlan(TableIndexes& indexes, const std::vector<Wish>& wishes,
                      const std::optional<Order>& order) {
  PlanChoice choice;
  choice.is_used.assign(wishes.size(), false);
  choice.rows = static_cast<double>(indexes.row_count());
  int list = -1;  // the wish whose rows are a list
  double rows_of_list = choice.rows;
  for (size_t i = 0; i < wishes.size(); ++i) {
    const Wish& wish = wishes[i];
    const Column& column =
        indexes.table().columns[static_cast<size_t>(wish.column)];
    if (!CanUse(column, wish.comparison)) continue;
    const bool is_equal = wish.comparison == Comparison::kEqual;
    if (HasRanges(indexes, wish.column)) {
      choice.is_used[i] = true;
      choice.rows =
          is_equal ? std::min(choice.rows, RowsOfValue(indexes, wish.column))
                   : choice.rows / 4;
      choice.is_one_row |= is_equal && IsId(column);
    } else if (is_equal && RowsOfValue(indexes, wish.column) <= rows_of_list) {
      rows_of_list = RowsOfValue(indexes, wish.column);
      list = static_cast<int>(i);
    }
  }
  // One row needs no list.
  if (list >= 0 && !choice.is_one_row) {
    choice.is_used[static_cast<size_t>(list)] = true;
    choice.rows = std::min(choice.rows, rows_of_list);
  }
  choice.rows = std::max(1.0, choice.rows);
  choice.cost = choice.rows + 1;
  for (size_t i = 0; i < wishes.size(); ++i) {
    if (!choice.is_used[i]) continue;
    choice.steps += static_cast<char>(wishes[i].comparison);
    choice.steps += static_cast<char>(kFirstColumn + wishes[i].column);
  }
  if (order && SavesSorting(indexes, choice, *order)) {
    choice.is_ordered = true;
    if (choice.is_one_row) return choice;
    choice.cost += choice.rows / 8;
    choice.steps += '|';
    choice.steps += order->descending ? 'd' : 'o';
    choice.steps += static_cast<char>(kFirstColumn + order->column);
  }
  return choice;
}

void FindRows(std::string_view steps, std::span<const PlanValue> values,
              TableIndexes& indexes, RowSet& rows) {
  rows.SetRanges({{0, static_cast<Row>(indexes.row_count())}});
  const auto column_at = [&](size_t i) { return steps[i] - kFirstColumn; };
  const size_t end = std::min(steps.size(), steps.find('|'));
  // The list first: ranges then thin it out.
  for (const bool lists : {true, false}) {
    for (size_t i = 0; i < end; i += 2) {
      const int column = column_at(i + 1);
      const PlanValue& value = values[i / 2];
      if (HasRanges(indexes, column) == lists) continue;
      if (lists) {
        const auto list = ListOf(indexes, column, value);
        if (list) rows.SetList(*list);
        continue;
      }
      const auto bounds = BoundsOf(static_cast<Comparison>(steps[i]), value);
      rows.Restrict(bounds ? RangesOf(indexes, column, *bounds)
                           : std::vector<RowRange>());
    }
  }
  if (end >= steps.size()) {
    rows.Begin(false);
    return;
  }
  const int column = column_at(end + 2);
  if (!Ascends(indexes, column)) {
    rows.Order(indexes.Of(column).RowsInOrder());
  }
  rows.Begin(steps[end + 1] == 'd');
}

}  // namespace kymo::query
