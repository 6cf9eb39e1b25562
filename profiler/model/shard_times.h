// shard_times.h - when a shard's events, counters and memory records begin and
// end: the window of a recording that does not say it itself.
#ifndef KYMO_PROFILER_MODEL_SHARD_TIMES_H_
#define KYMO_PROFILER_MODEL_SHARD_TIMES_H_

#include <optional>

#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"

namespace kymo::model {

struct ShardTimes {
  TimeNs first_ns = 0;
  TimeNs last_ns = 0;
};

// Nothing where the shard holds nothing with a time. Samples are not looked at:
// those who sample know when.
std::optional<ShardTimes> TimesOf(const TraceShard& shard);

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_SHARD_TIMES_H_
