// trace_events.h - a Trace as PyTorch's event list.
//
//   KYMO_ASSIGN_OR_RETURN(ConvertedEvents converted,
//                         EventsOfTrace(trace, {.profile_memory = true}));
//   for (const FunctionEvent& e : converted.events) ...
//
// Ranges become events, memory records too (raw_events.h); instants, counters
// and samples do not. Times are relative to the start of the trace. An event's
// thread is its thread's logical id, or where a trace has none the position of
// its first track, from 1. Ranges that overlap, which a trace has on lanes of
// their own, are nested as PyTorch nests them. Memory is charged to operations
// of the thread that allocated, where PyTorch charges those of all threads.
// What a device did belongs to the operation that launched it
// (analysis/launches.h).
//
// Cost: linear; texts of shapes and stacks are made once for each distinct one.
#ifndef KYMO_PROFILER_EVENTS_TRACE_EVENTS_H_
#define KYMO_PROFILER_EVENTS_TRACE_EVENTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/events/event_list.h"
#include "profiler/events/function_event.h"
#include "profiler/events/raw_events.h"
#include "profiler/model/trace.h"

namespace kymo {

struct TraceEventsOptions {
  std::optional<std::string> use_device;
  bool profile_memory = false;
  bool with_flops = false;
  std::optional<double> timeout_s;  // as in ConversionOptions
  // FLOPs of an event; empty: none have any.
  std::function<int64_t(model::EventIndex)> flops;
};

// "FILE(LINE): FUNCTION", or what of it is known.
std::string FrameText(const model::Trace& trace, const model::Frame& frame);

// The frames of a stack as entries, innermost first.
EventStack StackEntries(const model::Trace& trace, model::StackId stack);

absl::StatusOr<ConvertedEvents> EventsOfTrace(
    const model::Trace& trace, const TraceEventsOptions& options);

// Those of EventsOfTrace(trace) that are events of the trace with an entry
// other than 0 in `counted`, which has one for each; with the times, parents
// and children that they have among all.
std::vector<FunctionEvent> CountedEvents(const EventList& events,
                                         std::span<const uint8_t> counted);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_TRACE_EVENTS_H_
