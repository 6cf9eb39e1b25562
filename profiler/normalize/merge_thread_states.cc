#include "profiler/normalize/merge_thread_states.h"

#include <algorithm>
#include <cstddef>

namespace kymo {

using model::ThreadTimes;
using model::TrackIndex;

void ThreadStatesMerger::Add(const model::ThreadStates& from,
                             std::span<const TrackIndex> tracks) {
  cpu_count_ = std::max(cpu_count_, from.cpu_count);
  std::map<TrackIndex, ThreadTimes> added;
  for (ThreadTimes times : from.threads) {
    times.track = tracks[times.track];
    const auto [at, is_new] = added.try_emplace(times.track, times);
    if (!is_new) at->second += times;
  }
  for (const auto& [track, times] : added) {
    std::vector<ThreadTimes>& known = by_track_[track];
    if (std::ranges::find(known, times) == known.end()) known.push_back(times);
  }
}

model::ThreadStates ThreadStatesMerger::Sum() const {
  model::ThreadStates states;
  states.cpu_count = cpu_count_;
  for (const auto& [track, known] : by_track_) {
    ThreadTimes& sum = states.threads.emplace_back(known.front());
    for (size_t i = 1; i < known.size(); ++i) sum += known[i];
  }
  return states;
}

}  // namespace kymo
