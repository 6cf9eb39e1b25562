// open_events.h - which event of a track was the innermost one open, from one
// time to the next.
//
//   OpenEvents open(trace, track, /*from_ns=*/100);
//   for (const MemoryRecord& record : records_of_the_track_in_time_order) {
//     const EventIndex event = open.InnermostAt(record.time_ns);
//   }
//
// An event is open at both of its bounds, as operations are charged with memory
// (memory_usage.h). Instants and asynchronous events contain nothing.
//
// Cost: all calls together are linear in the events passed; the first one finds
//   its place by bisection.
#ifndef KYMO_PROFILER_ANALYSIS_OPEN_EVENTS_H_
#define KYMO_PROFILER_ANALYSIS_OPEN_EVENTS_H_

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

class OpenEvents {
 public:
  // `trace` must outlive this.
  OpenEvents(const model::Trace& trace, model::TrackIndex track,
             TimeNs from_ns);

  // kNoEvent: none is open.
  // REQUIRES: not before from_ns or the time of an earlier call.
  model::EventIndex InnermostAt(TimeNs time_ns);

 private:
  bool CanContain(model::EventIndex event) const;

  const model::Trace& trace_;
  const model::EventIndex end_;
  model::EventIndex next_;  // the first one that has not been passed
  model::EventIndex innermost_ = model::kNoEvent;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_OPEN_EVENTS_H_
