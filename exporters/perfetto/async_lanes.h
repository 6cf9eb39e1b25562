// async_lanes.h - tracks for asynchronous ranges, which overlap as they like.
//
//   ranges    [a      ]  [c ]
//                 [b        ]
//   lane 1    [a      ]  [c ]
//   lane 2        [b        ]
//
// A range takes the lane of its thread that has been free for longest. All
// lanes of a thread have one name, so that viewers show them as one row.
#ifndef KYMO_EXPORTERS_PERFETTO_ASYNC_LANES_H_
#define KYMO_EXPORTERS_PERFETTO_ASYNC_LANES_H_

#include <cstdint>
#include <vector>

#include "exporters/perfetto/track_table.h"
#include "profiler/model/trace.h"

namespace kymo::perfetto {

class AsyncLanes {
 public:
  // Adds a track per lane. `trace` must outlive the object.
  AsyncLanes(const model::Trace& trace, TrackTable& tracks);

  bool empty() const { return events_.empty(); }
  // REQUIRES: the event is asynchronous.
  uint64_t UuidOf(model::EventIndex event) const;

 private:
  std::vector<model::EventIndex> events_;  // the asynchronous ones, ascending
  std::vector<uint64_t> uuids_;            // of their lanes
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_ASYNC_LANES_H_
