// event_calls.h - for how many ranges an event stands.
//
//   calls += model::Calls(trace, event);
#ifndef KYMO_PROFILER_MODEL_EVENT_CALLS_H_
#define KYMO_PROFILER_MODEL_EVENT_CALLS_H_

#include <cstdint>

#include "profiler/model/records.h"
#include "profiler/model/trace.h"

namespace kymo::model {

// More than 1 only for events with kEventFolded.
inline uint32_t Calls(const Trace& trace, EventIndex event) {
  return (trace.flags()[event] & kEventFolded) != 0
             ? trace.rare(*trace.detail(event)).calls
             : 1;
}

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_EVENT_CALLS_H_
