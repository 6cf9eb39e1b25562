// async_lanes.h - gives tracks to asynchronous ranges, which overlap freely.
//
//   ranges    [a      ]  [c ]
//                 [b        ]
//   lane 1    [a      ]  [c ]
//   lane 2        [b        ]
//
// A range takes the lane of its thread that has been free for the longest time.
// All lanes of a thread have one name, so that viewers show them as one row.
#ifndef KYMO_EXPORTERS_PERFETTO_ASYNC_LANES_H_
#define KYMO_EXPORTERS_PERFETTO_ASYNC_LANES_H_

#include <cstdint>
#include <vector>

#include "exporters/perfetto/track_table.h"
#include "profiler/model/trace.h"

namespace kymo::perfetto {

class AsyncLanes {
 public:
  // Adds a track for each lane. `trace` must outlive this object.
  AsyncLanes(const model::Trace& trace, TrackTable& tracks);

  bool empty() const { return events_.empty(); }
  // REQUIRES: the event is asynchronous.
  uint64_t UuidOf(model::EventIndex event) const;

 private:
  std::vector<model::EventIndex> events_;  // asynchronous events, ascending
  std::vector<uint64_t> uuids_;            // of the lane of each of them
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_ASYNC_LANES_H_
