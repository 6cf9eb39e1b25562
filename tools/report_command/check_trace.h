// check_trace.h - what is wrong or odd with a trace, by rule.
//
//   for (const TraceFinding& f : CheckTrace(trace)) Print(f.rule, f.count);
//
// Rule                     Severity  What it counts
//   trace_invalid          error     broken rule of profiler/model/trace.h
//   <a loss ledger's name> warning   what was lost (note where it is no loss)
//   time_not_positive      warning   events at or before the epoch
//   launch_missing         warning   device work whose call is not in the trace
//   launch_late            warning   device work that begins before its call
//   correlation_duplicate  warning   calls of one process, kind and id
//   forward_missing        warning   backward operations whose forward is not
//                                    in the trace
//   step_missing           warning   steps between two that are there
//   operation_missing      note      launches outside of operations and NVTX
//   duration_zero          note      ranges that took no time
//
// ranges_overlapping of the ledger is nesting: ranges of one thread that are
// neither nested nor apart.
//
// Cost: linear.
#ifndef KYMO_TOOLS_REPORT_COMMAND_CHECK_TRACE_H_
#define KYMO_TOOLS_REPORT_COMMAND_CHECK_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/model/trace.h"
#include "profiler/plugin/trace_importer.h"

namespace kymo::tools {

struct TraceFinding {
  ImportFinding::Severity severity = ImportFinding::Severity::kWarning;
  std::string rule;     // stable, lower_snake
  std::string message;  // one sentence about the first of them
  uint64_t count = 0;
  model::EventIndex first = model::kNoEvent;  // kNoEvent: not known
};

// The findings with a count, in the order of the table above.
std::vector<TraceFinding> CheckTrace(const model::Trace& trace);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_CHECK_TRACE_H_
