// lines.h - makes the lines of a plane from the tracks of a trace.
//
//   AddTrackLines(context, events, &memory, ids, tracks, plane);
//
//   line            | what it holds
//   NAME            | a thread's ranges and instants with memory events between
//                   | them, or the ranges of a stream
//   NAME (async)    | asynchronous ranges, which overlap freely
//   NAME samples    | a thread's samples as nested slices (flame_slices.h)
//   NAME waits      | a thread's waits, named by kind; short ones are missing
//
// The first line of a thread or stream has its id. Every other line gets an id
// that is unique within the plane. If several threads share a name, their lines
// carry the thread id behind the name. In a trace of several processes all
// lines carry the process id too.
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_LINES_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_LINES_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/tensorboard/xspace/event_bytes.h"
#include "exporters/tensorboard/xspace/memory_events.h"
#include "exporters/tensorboard/xspace/plane.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

// Gives names and ids to the lines of one plane.
class LineNames {
 public:
  // `tracks` are those that the plane shows.
  LineNames(const model::Trace& trace,
            const std::vector<model::TrackIndex>& tracks);

  // The first line of a track takes the track's id if the id fits 31 bits and
  // no other line has it.
  LineHead OfTrack(model::TrackIndex track);
  LineHead Further(model::TrackIndex track, std::string_view what);

 private:
  std::string Name(model::TrackIndex track) const;
  int64_t NewId();

  const model::Trace& trace_;
  std::set<std::string> shared_;  // names that several threads have
  bool has_processes_ = false;
  std::set<int64_t> taken_;
  std::set<int64_t> ids_;  // of all tracks, whether a line has them or not
  int64_t next_id_ = 1'000'000'000;
};

// `memory` may be null. `events` and `memory` must outlive the plane.
void AddTrackLines(const TraceContext& context, const EventBytes& events,
                   const MemoryEvents* memory, PlaneIds& ids,
                   const std::vector<model::TrackIndex>& tracks, Plane& plane);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_LINES_H_
