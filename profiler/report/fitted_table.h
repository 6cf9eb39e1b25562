// fitted_table.h - a table that is no wider than the terminal.
//
//   FittedTable table{
//       .columns = {{.title = "Name", .fit = Fit::kName},
//                   {.title = "Self CPU"},
//                   {.title = "Module", .fit = Fit::kText, .drop = 1}},
//       .rows = {{.cells = {"ns::f<int>(int)", "1.000ms", "libx.so"},
//                 .share = 0.5}}};
//   FormatFittedTable(table, {.width = 80, .color = false});
//
//   Name              Self CPU  Module
//   ---------------  ---------  -------
//   ns::f<int>(int)    1.000ms  libx.so
//
// What does not fit goes in this order: columns, the one with the highest
// `drop` first, as long as names have less than 30 code points or their own
// width; then the middle of names (profiler/text/short_name.h). PyTorch's own
// table, which is as wide as it is, is profiler/report/table.h.
#ifndef KYMO_PROFILER_REPORT_FITTED_TABLE_H_
#define KYMO_PROFILER_REPORT_FITTED_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kymo::report {

enum class Fit : uint8_t {
  kNumber,  // right-aligned
  kText,    // left-aligned
  kName,    // left-aligned and shortened; one column at most
};

struct FittedColumn {
  std::string title;
  Fit fit = Fit::kNumber;
  int drop = 0;  // 0: never dropped
};

struct FittedRow {
  std::vector<std::string> cells;  // one per column
  double share = 0;                // of the whole, 0..1; colour shows it
};

struct FittedTable {
  std::vector<FittedColumn> columns;
  std::vector<FittedRow> rows;
};

struct FittedTableOptions {
  size_t width = 80;  // code points; columns that must stay may exceed it
  // With ECMA-48 escapes: titles bold, rows of 10 % or more red, those below
  // 1 % dim.
  bool color = false;
};

// Lines without spaces at their ends. Empty without rows.
std::string FormatFittedTable(const FittedTable& table,
                              const FittedTableOptions& options);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_FITTED_TABLE_H_
