// thread_tables.h - how long threads and programs ran and waited, as tables.
//
//   const ValueTable table = ThreadTable(trace);
//
// profiler/model/thread_states.h defines the times.
#ifndef KYMO_PROFILER_REPORT_THREAD_TABLES_H_
#define KYMO_PROFILER_REPORT_THREAD_TABLES_H_

#include <cstdint>
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

// All threads of all processes that ran one program.
struct ProgramTimes {
  std::string_view name;  // of the processes; "[unknown]" without one
  int64_t processes = 0;
  int64_t threads = 0;
  model::ThreadTimes times;  // their sums
};

// The programs of a trace, those that used most CPU time first. A process that
// ran several counts for the last one. Empty if nobody recorded the times of
// threads. The names are valid as long as the trace.
std::vector<ProgramTimes> BusiestPrograms(const model::Trace& trace);

// A row for each of them.
ValueTable ProgramTable(const model::Trace& trace);

// Like ThreadsText. Empty if only one program ran, too.
std::string ProgramsText(const model::Trace& trace, int row_limit);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_THREAD_TABLES_H_
