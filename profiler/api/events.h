// events.h - PyTorch's lists of events: EventList, FunctionEvent and averages.
//
//   #include "kymo/profile.h"
//
//   kymo::Profile profile;
//   absl::Status status = profile.Start();
//   Work();
//   status.Update(profile.Stop());
//   absl::StatusOr<const kymo::EventList*> events = profile.events();
//   if (!events.ok()) return events.status();
//   for (const kymo::FunctionEvent& event : **events) Print(event.name);
//
// profile.h includes most of this header. The rest makes lists of your own
// events (raw_events.h) or of a trace (trace_events.h). It also writes times
// and bytes as PyTorch's tables do (format.h). The headers in profiler/events
// declare and describe everything.
#ifndef KYMO_PROFILER_API_EVENTS_H_
#define KYMO_PROFILER_API_EVENTS_H_

#include "profiler/events/averages/event_averages.h"  // IWYU pragma: export
#include "profiler/events/enforce_unique.h"           // IWYU pragma: export
#include "profiler/events/event_list.h"               // IWYU pragma: export
#include "profiler/events/mem_records.h"              // IWYU pragma: export
#include "profiler/events/raw_events.h"               // IWYU pragma: export
#include "profiler/events/trace_events.h"             // IWYU pragma: export
#include "profiler/text/format.h"                     // IWYU pragma: export

#endif  // KYMO_PROFILER_API_EVENTS_H_
