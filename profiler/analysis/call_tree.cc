#include "profiler/analysis/call_tree.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "profiler/base/parallel.h"
#include "profiler/model/records.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;

constexpr size_t kGrain = size_t{64} << 10;

// Time of children whose parent stands in an earlier range.
struct Owed {
  EventIndex parent;
  DurationNs ns;
};

}  // namespace

Column<DurationNs> SelfTimes(const model::Trace& trace) {
  const size_t n = trace.event_count();
  const auto start = trace.start();
  const auto end = trace.end();
  const auto parent = trace.parent();
  const auto flags = trace.flags();
  Column<DurationNs> self(n);
  std::vector<std::vector<Owed>> owed(ParallelRangeCount(n, kGrain));

  ParallelFor(n, kGrain, [&](size_t first, size_t last) {
    std::vector<Owed>& earlier = owed[first / kGrain];
    for (size_t i = first; i < last; ++i) {
      if (flags[i] & (model::kEventInstant | model::kEventAsync)) {
        self[i] = 0;
        continue;
      }
      const DurationNs duration = end[i] - start[i];
      self[i] = duration;
      const EventIndex p = parent[i];
      if (p == model::kNoEvent) continue;
      if (p >= first) {
        self[p] -= duration;
      } else if (!earlier.empty() && earlier.back().parent == p) {
        // Ancestors open at `first` are left one after the other, so that the
        // list stays as short as the tree is deep.
        earlier.back().ns += duration;
      } else {
        earlier.push_back({p, duration});
      }
    }
  });
  for (const std::vector<Owed>& range : owed) {
    for (const Owed& debt : range) self[debt.parent] -= debt.ns;
  }
  return self;
}

}  // namespace kymo::analysis
