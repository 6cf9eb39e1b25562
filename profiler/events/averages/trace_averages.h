// trace_averages.h - the averages of a Trace, by the shortest way.
//
//   KYMO_ASSIGN_OR_RETURN(EventAverages averages,
//                         AveragesOfTrace(trace, {.with_flops = true}));
//
// The same as key_averages() of EventsOfTrace(trace), PyTorch's numbers; but
// usually they come straight from the columns, without an object per event.
// There the times are exact sums of nanoseconds, where PyTorch adds
// rounded microseconds.
//
// `counted` chooses events: an entry per event of the trace, not 0 for those
// that count; empty: all. The others still take their time from the ranges
// around them; and no row is made of memory outside of all operations.
#ifndef KYMO_PROFILER_EVENTS_AVERAGES_TRACE_AVERAGES_H_
#define KYMO_PROFILER_EVENTS_AVERAGES_TRACE_AVERAGES_H_

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "profiler/events/averages/event_averages.h"
#include "profiler/events/averages/event_groups.h"
#include "profiler/events/trace_events.h"
#include "profiler/model/trace.h"

namespace kymo {

absl::StatusOr<EventAverages> AveragesOfTrace(
    const model::Trace& trace, const TraceEventsOptions& options,
    const KeyAveragesOptions& grouping = {},
    std::span<const uint8_t> counted = {});

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_AVERAGES_TRACE_AVERAGES_H_
