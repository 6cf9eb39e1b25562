#include "exporters/perfetto/async_lanes.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

#include "profiler/base/time.h"

namespace kymo::perfetto {

AsyncLanes::AsyncLanes(const model::Trace& trace, TrackTable& tracks) {
  // Lanes of the track at hand by the end of their last range.
  using Lane = std::pair<TimeNs, uint64_t>;
  std::priority_queue<Lane, std::vector<Lane>, std::greater<>> lanes;
  model::TrackIndex track = model::kNoTrack;
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (!(trace.flags()[i] & model::kEventAsync)) continue;
    if (trace.track()[i] != track) {
      track = trace.track()[i];
      lanes = {};
    }
    uint64_t uuid = 0;
    if (lanes.empty() || lanes.top().first > trace.start()[i]) {
      uuid = tracks.AddChild(tracks.of(track).uuid, "asynchronous");
    } else {
      uuid = lanes.top().second;
      lanes.pop();
    }
    lanes.emplace(trace.end()[i], uuid);
    events_.push_back(i);
    uuids_.push_back(uuid);
  }
}

uint64_t AsyncLanes::UuidOf(model::EventIndex event) const {
  const auto it = std::lower_bound(events_.begin(), events_.end(), event);
  return uuids_[static_cast<size_t>(it - events_.begin())];
}

}  // namespace kymo::perfetto
