// trace_events.h - a Trace as PyTorch's event list.
//
//   KYMO_ASSIGN_OR_RETURN(ConvertedEvents converted,
//                         EventsOfTrace(trace, {.profile_memory = true}));
//   for (const FunctionEvent& e : converted.events) ...
//
// Ranges become events, memory records too (raw_events.h); instants, counters
// and samples do not. Times are relative to the start of the trace. An event's
// thread is its thread's logical id, or where a trace has none the position of
// its track, from 1. Memory is charged to operations of the thread that
// allocated, where PyTorch charges those of all threads.
//
// Cost: linear; texts of shapes and stacks are made once for each distinct one.
#ifndef KYMO_PROFILER_EVENTS_TRACE_EVENTS_H_
#define KYMO_PROFILER_EVENTS_TRACE_EVENTS_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
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

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_TRACE_EVENTS_H_
