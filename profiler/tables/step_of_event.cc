#include "profiler/tables/step_of_event.h"

#include <algorithm>
#include <span>

#include "profiler/base/parallel.h"

namespace kymo::tables {
namespace {

constexpr size_t kGrain = size_t{1} << 16;

std::span<const StepRow> StepsOf(const std::vector<StepRow>& steps,
                                 int64_t pid) {
  const auto begin =
      std::partition_point(steps.begin(), steps.end(),
                           [pid](const StepRow& row) { return row.pid < pid; });
  const auto end = std::partition_point(
      begin, steps.end(), [pid](const StepRow& row) { return row.pid == pid; });
  return {begin, end};
}

// The last step of a process includes its end.
int64_t StepAt(std::span<const StepRow> steps, TimeNs time_ns) {
  const auto next = std::partition_point(
      steps.begin(), steps.end(),
      [time_ns](const StepRow& row) { return row.step.begin_ns <= time_ns; });
  if (next == steps.begin()) return kNoStep;
  const analysis::Step& step = (next - 1)->step;
  const bool is_in =
      next == steps.end() ? time_ns <= step.end_ns : time_ns < step.end_ns;
  return is_in ? step.number : kNoStep;
}

}  // namespace

std::vector<StepRow> AllSteps(const model::Trace& trace) {
  std::vector<StepRow> rows;
  for (const analysis::ProcessSteps& process : analysis::FindSteps(trace)) {
    for (const analysis::Step& step : process.steps) {
      rows.push_back({process.pid, step});
    }
  }
  return rows;
}

Column64 StepsOfEvents(const model::Trace& trace,
                       const std::vector<StepRow>& steps,
                       const analysis::Launches& launches) {
  Column64 column(trace.event_count());
  if (steps.empty()) {
    std::fill(column.begin(), column.end(), kNoStep);
    return column;
  }
  std::vector<std::span<const StepRow>> of_track;
  for (const model::Track& track : trace.tracks()) {
    of_track.push_back(StepsOf(steps, track.pid));
  }
  ParallelFor(column.size(), kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const model::EventIndex launcher =
          launches.LauncherOf(static_cast<model::EventIndex>(i));
      column[i] =
          StepAt(of_track[trace.track()[i]],
                 trace.start()[launcher == model::kNoEvent ? i : launcher]);
    }
  });
  return column;
}

}  // namespace kymo::tables
