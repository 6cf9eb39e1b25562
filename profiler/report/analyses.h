// analyses.h - the list of analyses: each answers one question about a trace.
//
//   for (const Analysis& a : Analyses()) Print(a.name, a.purpose);
//   const ValueTable table = FindAnalysis("device_idle")->table(trace);
//   std::string text = FormatValueTable(table, {});
//
// `report --analysis`, `report --list`, the manual and the table in
// docs/report.md follow from this list. docs/add-an-analysis.md says how to add
// to it.
//
// Threads: the list is constant; a table is made on the calling thread, from a
// trace that stays as it is.
#ifndef KYMO_PROFILER_REPORT_ANALYSES_H_
#define KYMO_PROFILER_REPORT_ANALYSES_H_

#include <span>
#include <string>
#include <string_view>

#include "profiler/model/trace.h"
#include "profiler/report/value_table.h"

namespace kymo::report {

struct Analysis {
  std::string_view name;     // lower_snake
  std::string_view purpose;  // one line, without a full stop
  // Text, CSV and JSON are all made of this table.
  ValueTable (*table)(const model::Trace& trace);
  // Null; or the text, if a table of sentences would be too wide. A negative
  // limit: all rows.
  std::string (*text)(const model::Trace& trace, int row_limit) = nullptr;
  // Null; or what stands below the text: what the trace lacks for this answer.
  // Empty: nothing.
  std::string (*note)(const model::Trace& trace) = nullptr;
};

// Sorted by name.
std::span<const Analysis> Analyses();

// Null when there is none of that name.
const Analysis* FindAnalysis(std::string_view name);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_ANALYSES_H_
