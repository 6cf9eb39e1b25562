// trace_averages.h - the averages of a Trace, by the shortest way.
//
//   KYMO_ASSIGN_OR_RETURN(EventAverages averages,
//                         AveragesOfTrace(trace, {.with_flops = true}));
//
// The same as key_averages() of EventsOfTrace(trace), PyTorch's numbers; but
// usually they come straight from the columns, without an object per event.
// There the times are exact sums of nanoseconds, where PyTorch adds
// rounded microseconds.
#ifndef KYMO_PROFILER_EVENTS_TRACE_AVERAGES_H_
#define KYMO_PROFILER_EVENTS_TRACE_AVERAGES_H_

#include "absl/status/statusor.h"
#include "profiler/events/event_averages.h"
#include "profiler/events/event_groups.h"
#include "profiler/events/trace_events.h"
#include "profiler/model/trace.h"

namespace kymo {

absl::StatusOr<EventAverages> AveragesOfTrace(
    const model::Trace& trace, const TraceEventsOptions& options,
    const KeyAveragesOptions& grouping = {});

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_TRACE_AVERAGES_H_
