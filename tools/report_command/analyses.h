// analyses.h - the analyses that --analysis names, as text, CSV or JSON.
//
//   AnalysesText(trace, {{"device_idle"}}, TextFormat::kText, {});
//
// profiler/report/analyses.h is the list.
#ifndef KYMO_TOOLS_REPORT_COMMAND_ANALYSES_H_
#define KYMO_TOOLS_REPORT_COMMAND_ANALYSES_H_

#include <span>
#include <string>

#include "profiler/model/trace.h"
#include "profiler/report/value_table.h"
#include "tools/report_command/data_text.h"

namespace kymo::tools {

// The tables of these analyses, one behind the other. JSON is an object with a
// list of rows for each analysis. `row_limit` applies to each table; negative:
// all rows. REQUIRES: names of analyses; only one for CSV.
std::string AnalysesText(const model::Trace& trace,
                         std::span<const std::string> names, TextFormat format,
                         const report::ValueTableOptions& options);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_ANALYSES_H_
