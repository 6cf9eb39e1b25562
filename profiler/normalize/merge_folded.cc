#include "profiler/normalize/merge_folded.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "profiler/model/folded_changes.h"

namespace kymo {

using model::FoldedChange;
using model::FoldedChanges;
using model::FoldedPoint;
using model::FoldedStack;
using model::FoldedThread;
using model::StackId;
using model::TrackIndex;

namespace {

FoldedChanges Merged(std::span<const FoldedThread> threads) {
  std::vector<FoldedChange> all;
  for (const FoldedThread& thread : threads) {
    thread.changes.ForEach(
        [&](const FoldedChange& change) { all.push_back(change); });
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const FoldedChange& a, const FoldedChange& b) {
                     return a.time_ns < b.time_ns;
                   });
  FoldedChanges merged;
  for (const FoldedChange& change : all) merged.Add(change);
  return merged;
}

// Sorts threads by track, and makes one of those with the same track.
void MergeThreads(std::vector<FoldedThread>& threads) {
  std::stable_sort(threads.begin(), threads.end(),
                   [](const FoldedThread& a, const FoldedThread& b) {
                     return a.track < b.track;
                   });
  size_t kept = 0;
  for (size_t begin = 0, end = 0; begin < threads.size(); begin = end) {
    const TrackIndex track = threads[begin].track;
    while (end < threads.size() && threads[end].track == track) ++end;
    if (end - begin > 1) {
      threads[begin].changes = Merged({&threads[begin], end - begin});
    }
    if (kept != begin) threads[kept] = std::move(threads[begin]);
    ++kept;
  }
  threads.resize(kept);
}

}  // namespace

void MapFolded(std::span<const TrackIndex> tracks,
               std::span<const StackId> stacks, model::FoldedMemory& memory) {
  for (model::FoldedHeap& heap : memory.heaps) {
    heap.track = tracks[heap.track];
    for (size_t i = 0; i < heap.stacks.size(); ++i) {
      FoldedStack sum = heap.stacks[i];
      sum.track = tracks[sum.track];
      sum.stack = stacks[Index(sum.stack)];
      heap.stacks.Set(i, sum);
    }
    heap.stacks.SortAndJoin();
    for (model::FoldedBlock& block : heap.peak_blocks) {
      block.track = tracks[block.track];
    }
    std::sort(heap.peak_blocks.begin(), heap.peak_blocks.end());
    for (FoldedThread& thread : heap.threads) {
      thread.track = tracks[thread.track];
    }
    MergeThreads(heap.threads);
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
