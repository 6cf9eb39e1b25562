// shard_times.h - the first and the last time of a shard's events, counters and
// memory records. They are the window of a recording that does not state its
// own.
#ifndef KYMO_PROFILER_MODEL_SHARD_TIMES_H_
#define KYMO_PROFILER_MODEL_SHARD_TIMES_H_

#include <cstdint>
#include <optional>

#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"

namespace kymo::model {

struct ShardTimes {
  TimeNs first_ns = 0;
  TimeNs last_ns = 0;
};

// Nothing if the shard has no such event or record. Samples do not count: a
// backend that samples knows the window itself.
std::optional<ShardTimes> TimesOf(const TraceShard& shard);

// How many events, counters, memory records and samples are before `first_ns`
// or after `last_ns`. An event is where it starts. Normalisation drops these
// records if the two times are its window.
uint64_t RecordsOutside(const TraceShard& shard, TimeNs first_ns,
                        TimeNs last_ns);

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_SHARD_TIMES_H_
