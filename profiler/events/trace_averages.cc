#include "profiler/events/trace_averages.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "profiler/analysis/key_averages.h"
#include "profiler/base/status_macros.h"
#include "profiler/events/event_names.h"

namespace kymo {
namespace {

double ToUs(DurationNs ns) { return static_cast<double>(ns) / 1000; }

bool HasDevices(const model::Trace& trace) {
  return std::any_of(trace.tracks().begin(), trace.tracks().end(),
                     [](const model::Track& track) {
                       return track.kind == model::TrackKind::kStream;
                     });
}

bool HasFilteredNames(const model::Trace& trace) {
  for (uint32_t id = 0; id < trace.strings().size(); ++id) {
    if (IsFilteredName(trace.Name(model::NameId{id}))) return true;
  }
  return false;
}

bool HasNodes(const model::Trace& trace) {
  const std::vector<model::Detail>& details = trace.data().details;
  return std::any_of(
      details.begin(), details.end(),
      [](const model::Detail& detail) { return detail.node_id != -1; });
}

// Whether the columns alone have everything that the averages show.
bool ColumnsSuffice(const model::Trace& trace,
                    const TraceEventsOptions& options,
                    const KeyAveragesOptions& grouping) {
  return !grouping.group_by_input_shapes && grouping.group_by_stack_n == 0 &&
         !grouping.group_by_overload_name &&
         !grouping.include_python_functions && !options.profile_memory &&
         !options.with_flops && !options.timeout_s && !HasDevices(trace) &&
         !HasFilteredNames(trace) && !HasNodes(trace);
}

FunctionEventAvg AverageOf(const model::Trace& trace,
                           const TraceEventsOptions& options,
                           const analysis::KeyAverage& row) {
  FunctionEventAvg average;
  average.has_key = true;
  average.key = RewriteName(row.name, StepNames::kWildcard);
  average.node_id = -1;
  if (trace.parent()[row.first_event] != model::kNoEvent) {
    average.cpu_parent = trace.parent()[row.first_event];
  }
  average.scope = trace.scope()[row.first_event];
  average.is_async = row.is_async;
  average.is_user_annotation = row.is_user_annotation;
  average.use_device = options.use_device;
  average.count = row.count;
  average.cpu_time_total = ToUs(row.cpu_time_total_ns);
  average.self_cpu_time_total = ToUs(row.self_cpu_time_total_ns);
  return average;
}

}  // namespace

absl::StatusOr<EventAverages> AveragesOfTrace(
    const model::Trace& trace, const TraceEventsOptions& options,
    const KeyAveragesOptions& grouping) {
  if (!ColumnsSuffice(trace, options, grouping)) {
    KYMO_ASSIGN_OR_RETURN(const ConvertedEvents converted,
                          EventsOfTrace(trace, options));
    return converted.events.key_averages(grouping);
  }
  std::vector<FunctionEventAvg> averages;
  for (const analysis::KeyAverage& row :
       analysis::KeyAverages(trace, analysis::Duplicates::kMerge)) {
    averages.push_back(AverageOf(trace, options, row));
  }
  return EventAverages(std::move(averages), {.use_device = options.use_device});
}

}  // namespace kymo
