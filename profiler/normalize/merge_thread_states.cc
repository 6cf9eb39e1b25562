#include "profiler/normalize/merge_thread_states.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kymo {

namespace {

using model::ThreadTimes;

// Keeps one entry for each track: the sum, or of two equal ones the first if
// `equal_is_one`.
void Join(std::vector<ThreadTimes>& threads, bool equal_is_one) {
  std::stable_sort(threads.begin(), threads.end(),
                   [](const ThreadTimes& a, const ThreadTimes& b) {
                     return a.track < b.track;
                   });
  size_t kept = 0;
  for (const ThreadTimes& times : threads) {
    if (kept == 0 || threads[kept - 1].track != times.track) {
      threads[kept++] = times;
    } else if (!equal_is_one || threads[kept - 1] != times) {
      threads[kept - 1] += times;
    }
  }
  threads.resize(kept);
}

}  // namespace

void MergeThreadStates(const model::ThreadStates& from,
                       std::span<const model::TrackIndex> tracks,
                       model::ThreadStates& into) {
  into.cpu_count = std::max(into.cpu_count, from.cpu_count);
  std::vector<ThreadTimes> added = from.threads;
  for (ThreadTimes& times : added) times.track = tracks[times.track];
  Join(added, /*equal_is_one=*/false);
  into.threads.insert(into.threads.end(), added.begin(), added.end());
  Join(into.threads, /*equal_is_one=*/true);
}

}  // namespace kymo
