// chrome_trace.h - a list of events as a Chrome trace, as EventList writes it.
//
//   [{"name": "aten::mm", "ph": "X", "ts": 100.0, "dur": 400.0, "tid": 1,
//     "pid": "CPU functions", "args": {}}, ...]
//
// One object per event that has a trace_name, and for each of its kernels the
// start of a flow ("cpu_to_cuda"); flows have no end, as in PyTorch. Objects
// are separated by a comma and a space. The tid of a remote event is the text
// " node_id:N, thread_id:T ". Names are escaped to ASCII.
//
// A recording's own trace, with threads, devices and arguments, is richer: see
// exporters/chrome. This form serves lists made by hand or filtered. Where no
// event of a list has a trace_name, PyTorch stops with an error half-way; here
// the text is "[]".
#ifndef KYMO_PROFILER_EVENTS_CHROME_TRACE_H_
#define KYMO_PROFILER_EVENTS_CHROME_TRACE_H_

#include <optional>
#include <ostream>
#include <span>
#include <string>

#include "profiler/events/function_event.h"

namespace kymo {

// `use_device` is that of the list; without one, flows go to "cuda".
void WriteChromeTrace(std::span<const FunctionEvent> events,
                      const std::optional<std::string>& use_device,
                      std::ostream& out);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_CHROME_TRACE_H_
