// event_table.h - events and averages as PyTorch's table.
//
//   KYMO_ASSIGN_OR_RETURN(
//       const std::string text,
//       FormatEventTable(events, list_options, {.row_limit = 10}));
//
// The table is that of profiler/report/table.h, with the device of the first
// event. It differs from PyTorch's in four cases:
//   - An event without FLOPs counts as one with 0. PyTorch refuses it.
//   - An event without a stack counts as one with an empty stack. PyTorch
//     refuses it.
//   - A share of a total of 0 is NaN. PyTorch refuses it.
//   - The total of device time contains that of HPUs. PyTorch leaves it out.
#ifndef KYMO_PROFILER_EVENTS_AVERAGES_EVENT_TABLE_H_
#define KYMO_PROFILER_EVENTS_AVERAGES_EVENT_TABLE_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/events/averages/event_averages.h"
#include "profiler/events/averages/function_event_avg.h"
#include "profiler/events/function_event.h"
#include "profiler/report/table.h"

namespace kymo {

absl::StatusOr<std::string> FormatEventTable(
    std::span<const FunctionEvent> events, const EventListOptions& list,
    report::TableOptions options);
absl::StatusOr<std::string> FormatEventTable(
    std::span<const FunctionEventAvg> averages, const EventListOptions& list,
    report::TableOptions options);

// The rows of those tables, in the order of the events or averages.
std::vector<report::TableRow> EventTableRows(
    std::span<const FunctionEvent> events);
std::vector<report::TableRow> EventTableRows(
    std::span<const FunctionEventAvg> averages);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_AVERAGES_EVENT_TABLE_H_
