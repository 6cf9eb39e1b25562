// wake_path_tables.h - which threads held up the end of a program, as tables.
//
//   if (analysis::HasWakePath(trace)) Print(WakePathTable(trace));
//
//   Process  Thread  Thread name  Thread %  Cause   Name  Path %  ...
//      4711    4713  worker         80.00%  on CPU  Sum   70.00%
//
// profiler/analysis/wake_path.h defines the path. The time that a thread ran is
// named by its innermost range; outside of ranges, by the functions of the
// program that its samples are in. A wait is named by the function of the
// program that waited. Runnable time has no name.
#ifndef KYMO_PROFILER_REPORT_WAKE_PATH_TABLES_H_
#define KYMO_PROFILER_REPORT_WAKE_PATH_TABLES_H_

#include <string>

#include "profiler/model/trace.h"
#include "profiler/report/value_table.h"

namespace kymo::report {

// The path's time by thread, cause and name. The thread that had most of it
// is first. Names with less than 1 % of the path are one row, "[other]", for
// each thread and cause. REQUIRES, as below: analysis::HasWakePath(trace).
ValueTable WakePathTable(const model::Trace& trace);

// The same in the order of time. Functions of one time on a CPU stand in the
// order of their names. Times count from the trace's start.
ValueTable WakePathStepTable(const model::Trace& trace);

// A line if the path has waits that another process may have ended, and nobody
// recorded which. Else empty.
std::string WakePathNote(const model::Trace& trace);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_WAKE_PATH_TABLES_H_
