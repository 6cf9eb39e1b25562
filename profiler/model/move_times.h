// move_times.h - puts a shard's records on another clock.
//
//   model::MoveTimes(shard, {.from_ns = t0, .to_ns = t0 + offset_ns});
//
// Every time of the shard goes through the map; durations stay, since what a
// clock drifts by during one is nothing beside it. A time of 0 means "not
// known" and stays.
#ifndef KYMO_PROFILER_MODEL_MOVE_TIMES_H_
#define KYMO_PROFILER_MODEL_MOVE_TIMES_H_

#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"

namespace kymo::model {

// A line: `from_ns` becomes `to_ns`, and a second there is 1 + `drift` here.
struct TimeMap {
  TimeNs from_ns = 0;
  TimeNs to_ns = 0;
  double drift = 0;

  TimeNs operator()(TimeNs time) const {
    const DurationNs since = time - from_ns;
    return to_ns + since +
           static_cast<DurationNs>(drift * static_cast<double>(since));
  }
};

void MoveTimes(TraceShard& shard, const TimeMap& map);

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_MOVE_TIMES_H_
