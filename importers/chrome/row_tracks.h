// row_tracks.h - the rows of a file as tracks and processes.
//
//   const RowTracks tracks = FindTracks(store);
//   tracks.of_row[row]            // a track of tracks.tracks, or kNoTrack
//
// - A row of a device (work of a device stands on it, or it is named or
//   labelled so) is a stream; its process is the one its name tells, or whose
//   calls have the correlation ids of its work, or the only one.
// - "thread 12 (worker)" is thread 12 of name "worker", also where the row's
//   own number is another one: a further lane of the thread, or its samples.
// - pids and tids that are texts get numbers that nothing else has.
#ifndef KYMO_IMPORTERS_CHROME_ROW_TRACKS_H_
#define KYMO_IMPORTERS_CHROME_ROW_TRACKS_H_

#include <cstdint>
#include <vector>

#include "importers/chrome/event_store.h"
#include "profiler/model/records.h"

namespace kymo::chrome_import {

struct RowTracks {
  std::vector<model::Track> tracks;
  std::vector<model::Process> processes;
  std::vector<model::TrackIndex> of_row;
  std::vector<uint8_t> is_samples;  // by row: the flame chart of its track
};

// REQUIRES: store.JoinDetails() was called.
RowTracks FindTracks(EventStore& store);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_ROW_TRACKS_H_
