#include "tools/profile_command/thread_screen.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/model/thread_states.h"
#include "profiler/report/fitted_table.h"
#include "profiler/report/thread_tables.h"
#include "profiler/text/text_cells.h"
#include "profiler/text/visible_text.h"

namespace kymo::tools {
namespace {

using model::ThreadTimes;
using report::Fit;
using report::FormatFixed;

std::string Time(DurationNs ns) {
  return report::FormatTime(static_cast<double>(ns) / kNsPerUs, "");
}

std::string Percent(DurationNs part, DurationNs whole) {
  const double share =
      whole == 0 ? 0
                 : 100 * static_cast<double>(part) / static_cast<double>(whole);
  return FormatFixed(share, 0) + " %";
}

}  // namespace

std::string ThreadsLine(const model::Trace& trace, DurationNs wall_ns) {
  const model::ThreadStates* const states = trace.thread_states();
  if (states == nullptr || states->threads.empty()) return "";
  const ThreadTimes sum = states->Sum();
  const double cpus = wall_ns <= 0 ? 0
                                   : static_cast<double>(sum.on_cpu_ns) /
                                         static_cast<double>(wall_ns);
  const size_t count = states->threads.size();
  std::string line = FormatFixed(cpus, 2);
  if (states->cpu_count > 0) absl::StrAppend(&line, " of ", states->cpu_count);
  absl::StrAppend(&line, states->cpu_count == 1 ? " CPU" : " CPUs", " used; ",
                  count, count == 1 ? " thread was" : " threads were",
                  " on a CPU for ", Percent(sum.on_cpu_ns, sum.wall_ns), " of ",
                  count == 1 ? "its" : "their", " time, runnable for ",
                  Percent(sum.runnable_ns, sum.wall_ns), ", blocked for ",
                  Percent(sum.blocked_ns(), sum.wall_ns));
  if (sum.unknown_ns > 0) {
    absl::StrAppend(&line, ", unknown for ",
                    Percent(sum.unknown_ns, sum.wall_ns));
  }
  return line;
}

std::string ThreadsTable(const model::Trace& trace,
                         const ScreenOptions& options) {
  const std::vector<ThreadTimes> threads = report::BusiestThreads(trace);
  const size_t shown =
      options.rows < 0
          ? threads.size()
          : std::min(threads.size(), static_cast<size_t>(options.rows));
  report::FittedTable table{.columns = {{.title = "Thread", .fit = Fit::kName},
                                        {.title = "TID", .drop = 4},
                                        {.title = "Wall", .drop = 3},
                                        {.title = "On CPU"},
                                        {.title = "Runnable", .drop = 1},
                                        {.title = "Blocked"},
                                        {.title = "Voluntary", .drop = 5},
                                        {.title = "Involuntary", .drop = 6}},
                            .rows = {}};
  const DurationNs all_ns =
      threads.empty() ? 0 : trace.thread_states()->Sum().on_cpu_ns;
  for (size_t i = 0; i < shown; ++i) {
    const ThreadTimes& t = threads[i];
    const model::Track& track = trace.tracks()[t.track];
    const std::string_view name = trace.Name(track.name);
    table.rows.push_back(
        {.cells = {name.empty() ? "thread" : VisibleText(name),
                   std::to_string(track.id), Time(t.wall_ns), Time(t.on_cpu_ns),
                   Time(t.runnable_ns), Time(t.blocked_ns()),
                   std::to_string(t.voluntary_switches),
                   std::to_string(t.involuntary_switches)},
         .share = all_ns == 0 ? 0
                              : static_cast<double>(t.on_cpu_ns) /
                                    static_cast<double>(all_ns)});
  }
  std::string text = report::FormatFittedTable(
      table, {.width = options.width, .color = options.color});
  if (threads.size() > shown) {
    absl::StrAppend(&text, "and ", threads.size() - shown, " more\n");
  }
  return text;
}

}  // namespace kymo::tools
