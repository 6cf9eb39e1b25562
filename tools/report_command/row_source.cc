#include "tools/report_command/row_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "importers/load/recorded_options.h"
#include "profiler/analysis/averages/duplicates.h"
#include "profiler/analysis/flops.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/time.h"
#include "profiler/events/averages/event_groups.h"
#include "profiler/events/averages/event_table.h"
#include "profiler/events/averages/trace_averages.h"
#include "profiler/events/event_list.h"
#include "profiler/events/trace_events.h"

namespace kymo::tools {
namespace {

// Overlapping ranges are on lanes: further tracks with the same ids.
bool HasLanes(const model::Trace& trace) {
  const auto tracks = trace.tracks();
  return std::adjacent_find(
             tracks.begin(), tracks.end(),
             [](const model::Track& a, const model::Track& b) {
               return std::tie(a.pid, a.kind, a.device_index, a.id) ==
                      std::tie(b.pid, b.kind, b.device_index, b.id);
             }) != tracks.end();
}

// Whether an object per event is affordable, and PyTorch's microseconds since
// the start, which are doubles, still tell nanoseconds. They do for a job; not
// between files whose clocks began decades apart.
bool AddsLikePyTorch(const model::Trace& trace) {
  constexpr size_t kMostEvents = 100'000;
  constexpr size_t kMostEventsOnLanes = 2'000'000;
  constexpr DurationNs kMostNs = DurationNs{30} * 24 * 60 * 60 * kNsPerSecond;
  if (trace.end_ns() - trace.start_ns() > kMostNs) return false;
  // A record of memory may become an event as well.
  return trace.event_count() + trace.memory().size() <=
         (HasLanes(trace) ? kMostEventsOnLanes : kMostEvents);
}

// `counted` as in AveragesOfTrace.
absl::StatusOr<std::vector<report::TableRow>> RowsOfEvents(
    const model::Trace& trace, const RowOptions& options,
    const TraceEventsOptions& event_options,
    const std::vector<uint8_t>& counted) {
  KYMO_ASSIGN_OR_RETURN(const ConvertedEvents converted,
                        EventsOfTrace(trace, event_options));
  const EventList& list = converted.events;
  std::vector<FunctionEvent> chosen;
  if (!counted.empty()) chosen = CountedEvents(list, counted);
  const std::span<const FunctionEvent> events =
      counted.empty() ? std::span<const FunctionEvent>(list.begin(), list.end())
                      : chosen;
  if (options.single_events) return EventTableRows(events);
  KYMO_ASSIGN_OR_RETURN(const std::vector<FunctionEventAvg> averages,
                        AverageGroups(events, options.grouping));
  return EventTableRows(averages);
}

absl::StatusOr<std::vector<report::TableRow>> RowsOfColumns(
    const model::Trace& trace, const RowOptions& options,
    const TraceEventsOptions& event_options,
    const std::vector<uint8_t>& counted) {
  KYMO_ASSIGN_OR_RETURN(
      const EventAverages averages,
      AveragesOfTrace(trace, event_options, options.grouping, counted));
  return EventTableRows(
      std::span<const FunctionEventAvg>(averages.begin(), averages.end()));
}

}  // namespace

absl::StatusOr<TraceRows> RowsOf(const model::Trace& trace,
                                 const RowOptions& options,
                                 const EventFilter& filter) {
  TraceRows result;
  const RecordedOptions recorded = RecordedOptionsOf(trace);
  result.profile_memory = recorded.profile_memory;
  result.with_flops = options.with_flops || recorded.with_flops;
  TraceEventsOptions events;
  events.profile_memory = result.profile_memory;
  events.with_flops = result.with_flops;
  events.duplicates = analysis::DuplicatesOf(trace);
  if (!recorded.use_device.empty()) {
    result.use_device =
        options.device.empty() ? recorded.use_device : options.device;
    events.use_device = result.use_device;
  }
  FlopsEstimate estimate;
  if (result.with_flops) {
    estimate = EstimateFlops(trace, FlopsRegistry::Process());
    events.flops = [&](model::EventIndex event) {
      return estimate.flops[event];
    };
    result.notes = estimate.warnings;
  }
  std::vector<uint8_t> counted;
  if (!filter.empty()) {
    KYMO_ASSIGN_OR_RETURN(counted, ChooseEvents(trace, filter));
  }
  KYMO_ASSIGN_OR_RETURN(result.rows,
                        options.single_events || AddsLikePyTorch(trace)
                            ? RowsOfEvents(trace, options, events, counted)
                            : RowsOfColumns(trace, options, events, counted));
  return result;
}

report::TableOptions OptionsFor(const TraceRows& rows,
                                report::TableOptions table) {
  table.profile_memory = rows.profile_memory;
  table.with_flops = rows.with_flops;
  table.use_device = rows.use_device;
  if (table.sort_by == "auto") {
    table.sort_by = rows.use_device.empty() ? "self_cpu_time_total"
                                            : "self_device_time_total";
  }
  return table;
}

absl::StatusOr<DataTable> RowData(const TraceRows& rows,
                                  const report::TableOptions& table) {
  KYMO_ASSIGN_OR_RETURN(const std::vector<const report::TableRow*> shown,
                        report::ShownRows(rows.rows, table));
  std::vector<std::string> columns = {"name",
                                      "overload_name",
                                      "is_device",
                                      "is_user_annotation",
                                      "is_async",
                                      "node_id",
                                      "count",
                                      "cpu_time_total_us",
                                      "self_cpu_time_total_us",
                                      "device_time_total_us",
                                      "self_device_time_total_us",
                                      "cpu_memory_usage_bytes",
                                      "self_cpu_memory_usage_bytes",
                                      "device_memory_usage_bytes",
                                      "self_device_memory_usage_bytes",
                                      "flops",
                                      "input_shapes",
                                      "stack"};
  const bool has_waits =
      std::ranges::any_of(rows.rows, [](const report::TableRow& row) {
        return row.wait_time_total_us.has_value();
      });
  if (has_waits) columns.emplace_back("wait_time_total_us");
  DataTable data(std::move(columns));
  for (const report::TableRow* const row : shown) {
    std::vector<DataValue> values = {row->key,
                                     row->overload_name,
                                     row->device == report::RowDevice::kDevice,
                                     row->is_user_annotation,
                                     row->is_async,
                                     row->node_id,
                                     row->count,
                                     row->cpu_time_total_us,
                                     row->self_cpu_time_total_us,
                                     row->device_time_total_us,
                                     row->self_device_time_total_us,
                                     row->cpu_memory_usage_bytes,
                                     row->self_cpu_memory_usage_bytes,
                                     row->device_memory_usage_bytes,
                                     row->self_device_memory_usage_bytes,
                                     row->flops,
                                     row->input_shapes,
                                     row->stack};
    if (row->wait_time_total_us) {
      values.emplace_back(*row->wait_time_total_us);
    } else if (has_waits) {
      values.emplace_back();
    }
    data.AddRow(std::move(values));
  }
  return data;
}

}  // namespace kymo::tools
