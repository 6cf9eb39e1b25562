// open_events.h - which open event of a track is the innermost, at ascending
// times.
//
//   OpenEvents open(trace, track, /*from_ns=*/100);
//   for (const MemoryRecord& record : records_of_the_track_in_time_order) {
//     const EventIndex event = open.InnermostAt(record.time_ns);
//   }
//
// An event is open at both of its bounds, as in memory_usage.h. Instants and
// asynchronous events contain nothing.
//
// Cost: all calls together are linear in the events that they pass. The first
//   call finds its place by bisection.
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

  // kNoEvent: none is open. REQUIRES: `time_ns` is not before from_ns or the
  // time of an earlier call.
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
