// value_table.h - tables of named values, as text or for other formats.
//
//   ValueTable table{.columns = {{"direction", "Direction", Unit::kText},
//                                {"bytes", "Bytes", Unit::kBytes}},
//                    .rows = {}};
//   table.rows.push_back({std::string("Memcpy HtoD"), int64_t{4096}});
//   FormatValueTable(table, {});
//
//   -----------  ------------
//   Direction           Bytes
//   -----------  ------------
//   Memcpy HtoD      4.00 KiB
//   -----------  ------------
//
// Values keep their unit, so that CSV and JSON have them in full. A column's
// name ends in the unit (_ns, _bytes). The text form is for people.
#ifndef KYMO_PROFILER_REPORT_VALUE_TABLE_H_
#define KYMO_PROFILER_REPORT_VALUE_TABLE_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "profiler/report/table.h"

namespace kymo::report {

enum class Unit : uint8_t {
  kText,            // std::string
  kCount,           // int64_t
  kNs,              // int64_t
  kBytes,           // int64_t
  kNumber,          // double, with two decimals
  kShare,           // double from 0 to 1: "12.50%"
  kBytesPerSecond,  // double: "12.50 GB/s", of 10^9
};

struct ValueColumn {
  std::string name;   // lower_snake
  std::string title;  // for people
  Unit unit = Unit::kText;
};

// monostate: the value is not known, or has no meaning in this row.
using Value = std::variant<std::monostate, std::string, int64_t, double>;

struct ValueTable {
  std::vector<ValueColumn> columns;
  std::vector<std::vector<Value>> rows;  // a value per column
};

struct ValueTableOptions {
  int row_limit = -1;  // negative: all
  // Longer texts end with "...".
  int max_text_width = *TableOptions().max_name_column_width;
  std::string time_unit;  // "s", "ms" or "us"; anything else: by size
};

// The table with its texts, which may come from the target, as VisibleText.
ValueTable VisibleTable(ValueTable table);

// A cell, as FormatValueTable writes it: "1.000ms", "--" if it is not known.
std::string ValueText(const Value& value, Unit unit,
                      const ValueTableOptions& options);

// Returns an empty text for a table without rows.
std::string FormatValueTable(const ValueTable& table,
                             const ValueTableOptions& options);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_VALUE_TABLE_H_
