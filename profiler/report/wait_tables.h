// wait_tables.h - where threads waited, for which locks, and in which ranges,
// as tables.
//
//   const ValueTable table = WaitTable(trace);
//
// profiler/analysis/waits.h says what is counted, and which waits are idle.
#ifndef KYMO_PROFILER_REPORT_WAIT_TABLES_H_
#define KYMO_PROFILER_REPORT_WAIT_TABLES_H_

#include <string>

#include "profiler/model/trace.h"
#include "profiler/report/value_table.h"

namespace kymo::report {

// A row for each stack and kind, the longest wait first. Shares are of all
// waits that are not idle.
ValueTable WaitTable(const model::Trace& trace);

// For each lock a row for each stack that waited for it ("waits"), and one for
// each place where the threads were that they waited for ("holds").
ValueTable LockTable(const model::Trace& trace);

// A row for each name of ranges: its time on a CPU, runnable and blocked.
ValueTable RangeWaitTable(const model::Trace& trace);

// The tables of stacks, locks and ranges as sections of a text, with titles,
// and without control characters. Empty without waits. A negative limit: all
// rows.
std::string WaitsText(const model::Trace& trace, int row_limit);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_WAIT_TABLES_H_
