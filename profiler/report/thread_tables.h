// thread_tables.h - how long threads ran and waited, as a table.
//
//   const ValueTable table = ThreadTable(trace);
//
// profiler/model/thread_states.h defines the times.
#ifndef KYMO_PROFILER_REPORT_THREAD_TABLES_H_
#define KYMO_PROFILER_REPORT_THREAD_TABLES_H_

#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/thread_states.h"
#include "profiler/model/trace.h"
#include "profiler/report/value_table.h"

namespace kymo::report {

// The threads of a trace, those that used most CPU time first. Empty if nobody
// recorded their times.
std::vector<model::ThreadTimes> BusiestThreads(const model::Trace& trace);

// A row for each of them.
ValueTable ThreadTable(const model::Trace& trace);

// The table as a section of a text, with its title, and without control
// characters. Empty without rows. A negative limit: all rows.
std::string ThreadsText(const model::Trace& trace, int row_limit);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_THREAD_TABLES_H_
