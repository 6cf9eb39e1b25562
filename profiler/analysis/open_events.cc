#include "profiler/analysis/open_events.h"

#include <algorithm>

namespace kymo::analysis {

using model::EventIndex;
using model::kNoEvent;

OpenEvents::OpenEvents(const model::Trace& trace, model::TrackIndex track,
                       TimeNs from_ns)
    : trace_(trace), end_(trace.track_end(track)) {
  const auto starts = trace.start();
  const EventIndex begin = trace.track_begin(track);
  next_ = static_cast<EventIndex>(
      std::upper_bound(starts.begin() + begin, starts.begin() + end_, from_ns) -
      starts.begin());
  // An event that is open now is the last range that began, or is around it.
  for (EventIndex event = next_; event > begin; --event) {
    if (!CanContain(event - 1)) continue;
    innermost_ = event - 1;
    break;
  }
}

EventIndex OpenEvents::InnermostAt(TimeNs time_ns) {
  for (; next_ < end_ && trace_.start()[next_] <= time_ns; ++next_) {
    if (CanContain(next_)) innermost_ = next_;
  }
  while (innermost_ != kNoEvent && trace_.end()[innermost_] < time_ns) {
    innermost_ = trace_.parent()[innermost_];
  }
  return innermost_;
}

bool OpenEvents::CanContain(EventIndex event) const {
  return model::IsRange(trace_.flags()[event]);
}

}  // namespace kymo::analysis
