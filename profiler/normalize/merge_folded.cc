#include "profiler/normalize/merge_folded.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace kymo {

using model::FoldedPoint;
using model::FoldedStack;
using model::StackId;
using model::TrackIndex;

void MapFolded(std::span<const TrackIndex> tracks,
               std::span<const StackId> stacks, model::FoldedMemory& memory) {
  for (model::FoldedHeap& heap : memory.heaps) {
    heap.track = tracks[heap.track];
    std::map<std::pair<TrackIndex, StackId>, FoldedStack> sums;
    for (const FoldedStack& from : heap.stacks) {
      const TrackIndex track = tracks[from.track];
      const StackId stack = stacks[Index(from.stack)];
      FoldedStack& into = sums[{track, stack}];
      into.track = track;
      into.stack = stack;
      into.allocated += from.allocated;
      into.temporary += from.temporary;
      into.alive += from.alive;
      into.at_peak += from.at_peak;
    }
    heap.stacks.clear();
    for (const auto& [key, sum] : sums) heap.stacks.push_back(sum);
  }
}

void MergeFolded(model::FoldedMemory from, model::FoldedMemory& into) {
  std::move(from.heaps.begin(), from.heaps.end(),
            std::back_inserter(into.heaps));
  // Tracks stand by pid.
  std::stable_sort(
      into.heaps.begin(), into.heaps.end(),
      [](const auto& a, const auto& b) { return a.track < b.track; });
  std::vector<FoldedPoint> sum;
  sum.reserve(from.live.size() + into.live.size());
  int64_t bytes[2] = {0, 0};
  auto a = into.live.begin();
  auto b = from.live.begin();
  while (a != into.live.end() || b != from.live.end()) {
    const bool takes_b = a == into.live.end() ||
                         (b != from.live.end() && b->time_ns < a->time_ns);
    const FoldedPoint point = takes_b ? *b++ : *a++;
    bytes[takes_b] = point.bytes;
    sum.push_back({point.time_ns, bytes[0] + bytes[1]});
  }
  into.live = std::move(sum);
  into.live_moments += from.live_moments;
}

}  // namespace kymo
