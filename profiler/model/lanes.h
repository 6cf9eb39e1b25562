// lanes.h - tells the tracks of one thread or stream from those of the next.
//
//   const bool is_lane = t > 0 && IsLaneOf(tracks[t], tracks[t - 1]);
//
// Events of one thread that overlap without nesting stand on several tracks,
// its lanes. The lanes of a thread or stream follow each other in a trace.
#ifndef KYMO_PROFILER_MODEL_LANES_H_
#define KYMO_PROFILER_MODEL_LANES_H_

#include "profiler/model/records.h"

namespace kymo::model {

inline bool IsLaneOf(const Track& a, const Track& b) {
  return a.kind == b.kind && a.pid == b.pid && a.id == b.id &&
         a.device_index == b.device_index;
}

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_LANES_H_
