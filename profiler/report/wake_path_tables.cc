#include "profiler/report/wake_path_tables.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/wait_names.h"
#include "profiler/analysis/wake_path.h"
#include "profiler/base/time.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"
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

// A program waits so for another one, which it started or which serves it.
bool IsForAnotherProgram(const model::Wait& wait) {
  return wait.kind == model::WaitKind::kPipe ||
         wait.kind == model::WaitKind::kPoll ||
         wait.kind == model::WaitKind::kNetwork;
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

std::string WakePathNote(const Trace& trace) {
  const bool knows_wakers = std::ranges::any_of(
      trace.thread_states()->waits, [](const model::Wait& wait) {
        return IsForAnotherProgram(wait) &&
               (wait.runnable_ns >= 0 || wait.waker != model::kNoTrack);
      });
  if (knows_wakers) return "";
  DurationNs all_ns = 0;
  DurationNs unknown_ns = 0;
  for (const WakeStep& step : analysis::FindWakePath(trace)) {
    all_ns += step.duration_ns();
    if (step.cause == WakeCause::kBlocked && IsForAnotherProgram(*step.wait)) {
      unknown_ns += step.duration_ns();
    }
  }
  if (unknown_ns <= all_ns / 100) return "";
  return absl::StrCat(
      "Note: ", 100 * unknown_ns / all_ns,
      " % of the path are waits for pipes, sockets and polls, whose wakers "
      "were not recorded: there, other processes may have held up the end. As "
      "root, --activities=sampling,off_cpu records them\n");
}

}  // namespace kymo::report
