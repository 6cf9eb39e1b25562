// trace_events.h - a Trace as PyTorch's list of events.
//
//   absl::StatusOr<kymo::ConvertedEvents> converted =
//       kymo::EventsOfTrace(trace, {.profile_memory = true});
//   if (!converted.ok()) return converted.status();
//   for (const kymo::FunctionEvent& event : converted->events) {
//     Print(event.name);
//   }
//
// Ranges and memory records become events by the rules of raw_events.h;
// instants, counters and samples do not. Times count from the start of the
// trace.
//
// - The thread of an event is its thread's logical id. Where a trace has no
//   such ids, it is the position of the thread's first track, from 1.
// - Overlapping ranges, which a trace keeps on lanes, are nested as in PyTorch.
// - Memory is charged to operations of the thread that allocated. (PyTorch
//   charges the operations of all threads.)
// - Work of a device belongs to the operation that launched it
//   (profiler/analysis/device/launches.h).
// - A range of NVTX is a marker. It lists the work that its thread launched
//   strictly within it, and so do all markers around it. That is the rule of
//   PyTorch's load_nvprof (parse_nvprof_trace in torch/autograd/profiler.py).
//   If an operation launched the work, only the markers around that operation
//   list it. Asynchronous markers list nothing.
// - A range has the node id that its record carries. A call of a device's
//   runtime has that of the range around it, a memory event that of the event
//   which began last on its thread. Work of a device has none.
//
// Threads: any; the trace is immutable. Errors: those of ConvertRawEvents.
// Cost:    linear. Texts of shapes and stacks are made once for each distinct
//   one.
#ifndef KYMO_PROFILER_EVENTS_TRACE_EVENTS_H_
#define KYMO_PROFILER_EVENTS_TRACE_EVENTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/analysis/averages/duplicates.h"
#include "profiler/events/event_list.h"
#include "profiler/events/function_event.h"
#include "profiler/events/raw_events.h"
#include "profiler/model/trace.h"

namespace kymo {

struct TraceEventsOptions {
  // The device that the trace's streams belong to. None: streams are CUDA's,
  // and the results show no device times.
  std::optional<std::string> use_device = {};
  bool profile_memory = false;
  bool with_flops = false;
  // Recursion counts as in PyTorch unless you say kKeep.
  analysis::Duplicates duplicates = analysis::Duplicates::kMerge;
  std::optional<double> timeout_s = {};  // as in ConversionOptions
  // Returns the FLOPs of an event; empty: no event has any.
  std::function<int64_t(model::EventIndex)> flops = {};
  // Returns the device time of an event in microseconds, where it was taken
  // with events and not from the device's streams; 0: none. Empty: no event has
  // any.
  std::function<int64_t(model::EventIndex)> device_elapsed_us = {};
};

// "FILE(LINE): FUNCTION", or the known parts of it.
std::string FrameText(const model::Trace& trace, const model::Frame& frame);

// The frames of a stack as texts, innermost first.
EventStack StackEntries(const model::Trace& trace, model::StackId stack);

absl::StatusOr<ConvertedEvents> EventsOfTrace(
    const model::Trace& trace, const TraceEventsOptions& options);

// Chooses from `events`, which EventsOfTrace made, the events whose entry in
// `counted` is not 0. `counted` has an entry for each event of the trace. The
// chosen events keep the times, parents and children that they have among all.
std::vector<FunctionEvent> CountedEvents(const EventList& events,
                                         std::span<const uint8_t> counted);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_TRACE_EVENTS_H_
