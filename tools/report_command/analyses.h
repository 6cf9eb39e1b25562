// analyses.h - the analyses that --analysis names.
//
//   for (const Analysis& a : Analyses()) Print(a.name, a.purpose);
//   report::ValueTable table = Analyses()[0].table(trace);
#ifndef KYMO_TOOLS_REPORT_COMMAND_ANALYSES_H_
#define KYMO_TOOLS_REPORT_COMMAND_ANALYSES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/trace.h"
#include "profiler/report/value_table.h"
#include "tools/report_command/data_text.h"

namespace kymo::tools {

struct Analysis {
  std::string_view name;     // lower_snake
  std::string_view purpose;  // one line, without a full stop
  report::ValueTable (*table)(const model::Trace& trace);
};

// Sorted by name.
std::span<const Analysis> Analyses();

// Null when there is none of that name.
const Analysis* FindAnalysis(std::string_view name);

// The tables of these analyses, one behind the other; of JSON, an object with a
// list of rows for each. `row_limit` is that of each table; negative: all.
// REQUIRES: of CSV, one name.
std::string AnalysesText(const model::Trace& trace,
                         std::span<const std::string> names, TextFormat format,
                         const report::ValueTableOptions& options);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_ANALYSES_H_
