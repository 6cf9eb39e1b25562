// lines.h - the lines that the tracks of a trace become.
//
//   AddTrackLines(context, events, &memory, ids, tracks, plane);
//
//   line            | what stands there
//   NAME            | ranges and instants of a thread, memory events between
//                   | them; those of a stream
//   NAME (async)    | asynchronous ranges, which overlap as they like
//   NAME samples    | a thread's samples as nested slices (flame_slices.h)
//
// A thread's line has the system's thread id; lines that have no such id of
// their own get one that nothing else in the plane has. Names that several
// lines would share have the thread id behind them, and in traces of several
// processes all have the process's.
#ifndef KYMO_EXPORTERS_TENSORBOARD_LINES_H_
#define KYMO_EXPORTERS_TENSORBOARD_LINES_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/tensorboard/event_bytes.h"
#include "exporters/tensorboard/memory_events.h"
#include "exporters/tensorboard/plane.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

// What the lines of a plane's tracks are called.
class LineNames {
 public:
  // Of the plane that shows these tracks.
  LineNames(const model::Trace& trace,
            const std::vector<model::TrackIndex>& tracks);

  // The first line of a track has its own id, if that can be.
  LineHead OfTrack(model::TrackIndex track);
  LineHead Further(model::TrackIndex track, std::string_view what);

 private:
  std::string Name(model::TrackIndex track) const;
  int64_t NewId();

  const model::Trace& trace_;
  std::set<std::string> shared_;  // names of several threads
  bool has_processes_ = false;
  std::set<int64_t> taken_;
  std::set<int64_t> ids_;  // that tracks have, given or not
  int64_t next_id_ = 1'000'000'000;
};

// `memory` may be null. `events` and `memory` must outlive the plane.
void AddTrackLines(const TraceContext& context, const EventBytes& events,
                   const MemoryEvents* memory, PlaneIds& ids,
                   const std::vector<model::TrackIndex>& tracks, Plane& plane);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_LINES_H_
