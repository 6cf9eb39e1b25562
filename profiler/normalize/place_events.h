// place_events.h - the events of all tracks, nested, into the trace's columns.
//
// Tracks of one source that knows its depths go straight to their rows
// (recorded_nesting.h), the others by lanes (lanes.h). If the times of some
// contradict their depths, those take the long way, and the rest is placed
// again: a second pass, at most, over all.
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
  std::vector<TrackSource> sources;  // maybe none
};

// Fills tracks, track_begin and the columns of events of `data`, and adds to
// its ledger. Returns the first lane of each input, a position in data.tracks.
//
// `block` may be null. Its names have the trace's ids. If it holds the events
// of all inputs in their order, its columns become those of `data`.
std::vector<model::TrackIndex> PlaceEvents(
    const std::vector<TrackEventsInput>& inputs, model::EventBlock* block,
    model::TraceData& data);

}  // namespace kymo::normalize

#endif  // KYMO_PROFILER_NORMALIZE_PLACE_EVENTS_H_
