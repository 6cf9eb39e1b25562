// test_tables.h - a trace that has something in every table, and the rows of
// tables as texts.
//
//   const model::Trace trace = SmallTrace();
//   RowsOf(TraceTables(trace), "events", {"id", "name", "step"});
//   // {"0|ProfilerStep#3|3", ...}; NULL is "-"
//
// The trace, of process 7 (names of threads: main, worker; times in ns):
//
//   main    0 ProfilerStep#3       1000 .. 1900
//           1   aten::mm           1100 .. 1500   shapes [[2, 3], [3, 4]]
//           2     cudaLaunchKernel 1200 .. 1250   correlation 5
//           3   aten::mm           1600 .. 1700   overload out
//           4 mark                 1950           instant
//   worker  5 load                 1000 .. 3000   open
//   cuda:0  6 gemm                 1300 .. 1800   correlation 5
//           7 Memcpy HtoD          1900 .. 2000   bytes 64
#ifndef KYMO_PROFILER_TABLES_TEST_TABLES_H_
#define KYMO_PROFILER_TABLES_TEST_TABLES_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/trace.h"
#include "profiler/tables/table.h"
#include "profiler/tables/trace_tables.h"

namespace kymo::tables {

model::Trace SmallTrace();

// Empty: all columns. Doubles are in the shortest form, bools 0 or 1.
std::vector<std::string> RowsOf(
    const TraceTables& tables, std::string_view table,
    std::initializer_list<std::string_view> columns = {});

// The values of rows [begin, end) of a column, read in one call.
std::vector<std::string> ValuesOf(const TraceTables& tables,
                                  const Column& column, size_t begin,
                                  size_t end);

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_TEST_TABLES_H_
