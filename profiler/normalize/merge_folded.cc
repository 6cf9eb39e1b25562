#include "profiler/normalize/merge_folded.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace kymo {

using model::FoldedPoint;
using model::FoldedStack;
using model::StackId;
using model::TrackIndex;

void MapFolded(std::span<const TrackIndex> tracks,
               std::span<const StackId> stacks, model::FoldedMemory& memory) {
  const auto place = [](const FoldedStack& sum) {
    return std::tie(sum.track, sum.stack);
  };
  const auto order = [&place](const FoldedStack& a, const FoldedStack& b) {
    return place(a) < place(b);
  };
  for (model::FoldedHeap& heap : memory.heaps) {
    heap.track = tracks[heap.track];
    std::vector<FoldedStack>& sums = heap.stacks;
    for (FoldedStack& sum : sums) {
      sum.track = tracks[sum.track];
      sum.stack = stacks[Index(sum.stack)];
    }
    if (!std::is_sorted(sums.begin(), sums.end(), order)) {
      std::sort(sums.begin(), sums.end(), order);
    }
    size_t kept = 0;
    for (const FoldedStack& sum : sums) {
      if (kept == 0 || place(sums[kept - 1]) != place(sum)) {
        sums[kept++] = sum;
        continue;
      }
      FoldedStack& into = sums[kept - 1];
      into.allocated += sum.allocated;
      into.temporary += sum.temporary;
      into.alive += sum.alive;
      into.at_peak += sum.at_peak;
    }
    sums.resize(kept);
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
