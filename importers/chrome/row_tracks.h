// row_tracks.h - turns the rows of a file into tracks and processes.
//
//   const RowTracks tracks = FindTracks(store);
//   tracks.of_row[row]            // a track of tracks.tracks, or kNoTrack
//
// - A row of a device becomes a stream. It is a row of a device if work of a
//   device is on it, or if its name or label says so. Its process is the one in
//   its name, else the one whose calls have the correlation ids of its work,
//   else the only process.
// - "thread 12 (worker)" is thread 12 with the name "worker", even if the row
//   has another number: then it is a further lane of the thread, or the
//   thread's waits or samples.
// - pids and tids that are texts get numbers that no other row has.
#ifndef KYMO_IMPORTERS_CHROME_ROW_TRACKS_H_
#define KYMO_IMPORTERS_CHROME_ROW_TRACKS_H_

#include <cstdint>
#include <vector>

#include "importers/chrome/events/event_store.h"
#include "profiler/model/records.h"

namespace kymo::chrome_import {

struct RowTracks {
  std::vector<model::Track> tracks;
  std::vector<model::Process> processes;
  std::vector<model::TrackIndex> of_row;
  std::vector<uint8_t> is_samples;  // by row: it is its track's flame chart
  std::vector<uint8_t> is_waits;    // by row: it shows its track's waits
};

// REQUIRES: store.JoinDetails() was called.
RowTracks FindTracks(EventStore& store);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_ROW_TRACKS_H_
