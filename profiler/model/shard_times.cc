#include "profiler/model/shard_times.h"

#include <algorithm>
#include <limits>

namespace kymo::model {

std::optional<ShardTimes> TimesOf(const TraceShard& shard) {
  ShardTimes times = {.first_ns = std::numeric_limits<TimeNs>::max(),
                      .last_ns = std::numeric_limits<TimeNs>::min()};
  const auto add = [&](TimeNs t) {
    times.first_ns = std::min(times.first_ns, t);
    times.last_ns = std::max(times.last_ns, t);
  };
  const auto add_events = [&](const EventColumns& events) {
    for (const TimeNs t : events.start_ns) add(t);
    // An end of 0 means that the range is still open.
    for (const TimeNs t : events.end_ns) {
      if (t != 0) times.last_ns = std::max(times.last_ns, t);
    }
  };
  add_events(shard.block);
  for (const TrackEvents& events : shard.events) add_events(events);
  for (const CounterSample& counter : shard.counters) add(counter.time_ns);
  for (const MemoryRecord& record : shard.memory) add(record.time_ns);
  if (times.first_ns > times.last_ns) return std::nullopt;
  return times;
}

uint64_t RecordsOutside(const TraceShard& shard, TimeNs first_ns,
                        TimeNs last_ns) {
  uint64_t outside = 0;
  const auto add = [&](TimeNs t) { outside += t < first_ns || t > last_ns; };
  for (const TimeNs t : shard.block.start_ns) add(t);
  for (const TrackEvents& events : shard.events) {
    for (const TimeNs t : events.start_ns) add(t);
  }
  for (const CounterSample& counter : shard.counters) add(counter.time_ns);
  for (const MemoryRecord& record : shard.memory) add(record.time_ns);
  for (const StackSample& sample : shard.samples) add(sample.time_ns);
  return outside;
}

}  // namespace kymo::model
