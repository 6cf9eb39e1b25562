// row_source.h - the rows of a trace's table: averages, or single events.
//
//   KYMO_ASSIGN_OR_RETURN(TraceRows rows, RowsOf(trace, options, filter));
//   report::FormatTable(rows.rows, options.table)
//
// The trace decides which further columns of PyTorch the table has. Memory: if
// it has memory records or says "profile_memory". FLOPs: if it says
// "with_flops", or the user asks for them. The device's columns: if streams
// have events. A filter chooses the events that count; times stay those of the
// whole trace.
//
// Sums equal PyTorch's to the last digit, which depends on the order in which
// it adds rounded microseconds. That takes an object per event. Beyond 100,000
// events and records of memory, sums are exact nanoseconds, and the last digit
// of a table can differ. The limit is two million if ranges overlap, because
// PyTorch nests these in its own way.
#ifndef KYMO_TOOLS_REPORT_COMMAND_ROW_SOURCE_H_
#define KYMO_TOOLS_REPORT_COMMAND_ROW_SOURCE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/events/averages/event_groups.h"
#include "profiler/model/trace.h"
#include "profiler/report/table.h"
#include "tools/report_command/data_text.h"
#include "tools/report_command/event_filter.h"

namespace kymo::tools {

struct RowOptions {
  bool single_events = false;  // a row per event
  KeyAveragesOptions grouping;
  bool with_flops = false;
  std::string device;  // what streams are called; empty: as recorded
};

struct TraceRows {
  std::vector<report::TableRow> rows;
  // The columns that the trace has data for: values for the TableOptions of
  // these names.
  bool profile_memory = false;
  bool with_flops = false;
  std::string use_device;
  std::vector<std::string> notes;  // about FLOPs that could not be estimated
};

absl::StatusOr<TraceRows> RowsOf(const model::Trace& trace,
                                 const RowOptions& options,
                                 const EventFilter& filter);

// `table` as `rows` need it; sort_by "auto" is by what a device did, if one
// worked.
report::TableOptions OptionsFor(const TraceRows& rows,
                                report::TableOptions table);

// All numbers of the rows that the table would show.
absl::StatusOr<DataTable> RowData(const TraceRows& rows,
                                  const report::TableOptions& table);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_ROW_SOURCE_H_
