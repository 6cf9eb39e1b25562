#include "profiler/tables/thread_rows.h"

#include <algorithm>

#include "profiler/model/lanes.h"

namespace kymo::tables {
namespace {

// Normalisation makes one process of a pid. Of several, the last one counts.
uint32_t LastProcess(const model::Trace& trace, int64_t pid) {
  const auto processes = trace.processes();
  const auto it = std::upper_bound(
      processes.begin(), processes.end(), pid,
      [](int64_t p, const model::Process& process) { return p < process.pid; });
  if (it == processes.begin() || (it - 1)->pid != pid) return kNoProcess;
  return static_cast<uint32_t>(it - processes.begin() - 1);
}

}  // namespace

ThreadRows FindThreads(const model::Trace& trace) {
  ThreadRows threads;
  const auto tracks = trace.tracks();
  for (model::TrackIndex t = 0; t < tracks.size(); ++t) {
    const bool is_lane = t > 0 && model::IsLaneOf(tracks[t], tracks[t - 1]);
    const bool is_thread = tracks[t].kind == model::TrackKind::kThread;
    threads.lane.push_back(is_lane ? threads.lane.back() + 1 : 0);
    threads.process.push_back(LastProcess(trace, tracks[t].pid));
    if (is_thread && !is_lane) threads.rows.push_back({.track = t});
    threads.of_track.push_back(
        is_thread ? static_cast<uint32_t>(threads.rows.size() - 1) : kNoThread);
  }
  for (const model::AllocationCounts& counts : trace.allocation_counts()) {
    const uint32_t row = threads.of_track[counts.track];
    if (row != kNoThread) threads.rows[row].counts = &counts;
  }
  if (trace.thread_states() != nullptr) {
    for (const model::ThreadTimes& times : trace.thread_states()->threads) {
      const uint32_t row = threads.of_track[times.track];
      if (row != kNoThread) threads.rows[row].times = &times;
    }
  }
  return threads;
}

}  // namespace kymo::tables
