// events.h - PyTorch's event lists for programs: FunctionEvent, EventList,
// FunctionEventAvg and what goes with them.
#ifndef KYMO_PROFILER_API_EVENTS_H_
#define KYMO_PROFILER_API_EVENTS_H_

#include "profiler/events/enforce_unique.h"  // IWYU pragma: export
#include "profiler/events/event_averages.h"  // IWYU pragma: export
#include "profiler/events/event_list.h"      // IWYU pragma: export
#include "profiler/events/mem_records.h"     // IWYU pragma: export
#include "profiler/events/raw_events.h"      // IWYU pragma: export
#include "profiler/events/trace_events.h"    // IWYU pragma: export
#include "profiler/text/format.h"            // IWYU pragma: export

#endif  // KYMO_PROFILER_API_EVENTS_H_
