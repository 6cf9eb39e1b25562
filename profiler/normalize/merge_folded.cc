#include "profiler/normalize/merge_folded.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace kymo {

using model::FoldedPoint;

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
