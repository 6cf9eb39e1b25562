// place_events.h - puts the events of all tracks, nested, into the trace's
// columns.
//
// The events of a track go straight to their rows if all are from one source
// that recorded depth (recorded_nesting.h); else they are nested in lanes
// (lanes.h). If the times of a track contradict its depths, that track takes
// the lanes, too, and the other tracks are placed again: at most one more pass
// over all events.
#ifndef KYMO_PROFILER_NORMALIZE_PLACE_EVENTS_H_
#define KYMO_PROFILER_NORMALIZE_PLACE_EVENTS_H_

#include <vector>

#include "profiler/model/records.h"
#include "profiler/model/trace.h"
#include "profiler/model/trace_shard.h"
#include "profiler/normalize/lanes.h"

namespace kymo::normalize {

struct TrackEventsInput {
  model::Track track;
  Window window;
  std::vector<TrackSource> sources;  // may be empty
};

// Fills the tracks, track_begin and the event columns of `data`, and adds to
// its ledger. Returns the first lane of each input, as a position in
// data.tracks.
//
// `block` may be null. Its names must have the trace's ids. If the block holds
// the events of all inputs in their order, its columns become those of `data`.
std::vector<model::TrackIndex> PlaceEvents(
    const std::vector<TrackEventsInput>& inputs, model::EventBlock* block,
    model::TraceData& data);

}  // namespace kymo::normalize

#endif  // KYMO_PROFILER_NORMALIZE_PLACE_EVENTS_H_
