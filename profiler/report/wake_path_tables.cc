#include "profiler/report/wake_path_tables.h"

#include <string>
#include <utility>

#include "profiler/analysis/wait_names.h"
#include "profiler/analysis/wake_path.h"
#include "profiler/report/paths/path_parts.h"

namespace kymo::report {
namespace {

using analysis::WakeCause;
using analysis::WakeStep;
using model::Trace;

PathParts NamedPath(const Trace& trace) {
  PathParts parts(trace);
  for (const WakeStep& step : analysis::FindWakePath(trace)) {
    if (step.cause == WakeCause::kOnCpu) {
      parts.AddRunning(step.track, step.start_ns, step.end_ns, "on CPU");
      continue;
    }
    const bool is_runnable = step.cause == WakeCause::kRunnable;
    parts.Add({.track = step.track,
               .start_ns = step.start_ns,
               .duration_ns = step.duration_ns(),
               .cause = is_runnable ? "runnable" : NameOf(step.wait->kind),
               .name = is_runnable ? "" : parts.places().Of(step.wait->stack)});
  }
  return parts;
}

}  // namespace

ValueTable WakePathTable(const Trace& trace) {
  ValueTable table{.columns = {{"process", "Process", Unit::kCount},
                               {"thread", "Thread", Unit::kCount},
                               {"thread_name", "Thread name", Unit::kText},
                               {"thread_share", "Thread %", Unit::kShare},
                               {"cause", "Cause", Unit::kText},
                               {"name", "Name", Unit::kText},
                               {"share", "Path %", Unit::kShare},
                               {"path_ns", "On the path", Unit::kNs},
                               {"count", "# of parts", Unit::kCount}},
                   .rows = {}};
  const PathParts parts = NamedPath(trace);
  for (PathRow& row : SumOfParts(parts.list())) {
    const model::Track& thread = trace.tracks()[row.track];
    table.rows.push_back({thread.pid, thread.id,
                          std::string(trace.Name(thread.name)), row.track_share,
                          std::string(row.cause), std::move(row.name),
                          row.share, row.time_ns, row.count});
  }
  return table;
}

ValueTable WakePathStepTable(const Trace& trace) {
  ValueTable table{.columns = {{"start_ns", "Start", Unit::kNs},
                               {"process", "Process", Unit::kCount},
                               {"thread", "Thread", Unit::kCount},
                               {"thread_name", "Thread name", Unit::kText},
                               {"cause", "Cause", Unit::kText},
                               {"name", "Name", Unit::kText},
                               {"path_ns", "On the path", Unit::kNs}},
                   .rows = {}};
  const PathParts parts = NamedPath(trace);
  for (const NamedPart& part : parts.list()) {
    const model::Track& thread = trace.tracks()[part.track];
    table.rows.push_back({part.start_ns - trace.start_ns(), thread.pid,
                          thread.id, std::string(trace.Name(thread.name)),
                          std::string(part.cause), part.name,
                          part.duration_ns});
  }
  return table;
}

}  // namespace kymo::report
