// sample_rows.h - the sampled functions of a trace, as a report shows them.
//
//   KYMO_ASSIGN_OR_RETURN(const report::SampleTable samples,
//                         ChosenSamples(trace, filter));
//   report::FormatSampleTable(samples, options);          // as text
//   SampleData(samples, options)                          // as CSV or JSON
//   DiffRows(DiffRowsOf(before, metric, ...), ...)        // two traces
//
// A filter's threads, steps and window choose samples, its name chooses
// functions. Its categories leave all samples out unless "cpu_sample" is among
// them. Times of a function include what it called, chosen or not.
//
// Errors: those of event_filter.h; an unknown sort key is kInvalidArgument.
#ifndef KYMO_TOOLS_REPORT_COMMAND_SAMPLE_ROWS_H_
#define KYMO_TOOLS_REPORT_COMMAND_SAMPLE_ROWS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/model/trace.h"
#include "profiler/report/sample_table.h"
#include "profiler/report/table.h"
#include "tools/report_command/data_text.h"
#include "tools/report_command/event_filter.h"

namespace kymo::tools {

absl::StatusOr<report::SampleTable> ChosenSamples(const model::Trace& trace,
                                                  const EventFilter& filter);

// The table that belongs below the one of `table`.
report::SampleTableOptions SampleOptions(const report::TableOptions& table);

// All numbers of the functions that the table would show.
absl::StatusOr<DataTable> SampleData(const report::SampleTable& samples,
                                     const report::SampleTableOptions& options);

// The path of the executable that was recorded; not of one that it started.
// Empty: none of the samples is in it, or nobody knows.
std::string MainModule(const model::Trace& trace,
                       const report::SampleTable& samples);

// Rows to compare with those of another trace. They count the samples of the
// time `metric`: cpu_time_total or self_cpu_time_total. `overload_name` is the
// module's base name: two builds of a program stand in different folders. Their
// files may have different names as well, so that of `main_module` is
// `shown_as`.
std::vector<report::TableRow> DiffRowsOf(const report::SampleTable& samples,
                                         std::string_view metric,
                                         std::string_view main_module = {},
                                         std::string_view shown_as = {});

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_SAMPLE_ROWS_H_
