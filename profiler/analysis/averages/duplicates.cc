#include "profiler/analysis/averages/duplicates.h"

#include <atomic>
#include <cstddef>

#include "profiler/base/parallel.h"
#include "profiler/model/recorded_by.h"
#include "profiler/model/records.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::Trace;

constexpr size_t kGrain = size_t{64} << 10;

bool HasParent(const Trace& trace, size_t event) {
  return trace.parent()[event] != model::kNoEvent &&
         model::IsRange(trace.flags()[event]);
}

// Whether a child is the first of its parent. The search stops at the child
// before it, or at an event inside of that, so all children together take
// linear time.
bool IsEldest(const Trace& trace, EventIndex child) {
  EventIndex before = child - 1;
  while (before != trace.parent()[child] &&
         !model::IsRange(trace.flags()[before]))
    --before;
  return before == trace.parent()[child];
}

// First children that have their parent's name, in order.
std::vector<EventIndex> Candidates(const Trace& trace) {
  const size_t n = trace.event_count();
  const auto name = trace.name();
  const auto parent = trace.parent();
  std::vector<std::vector<EventIndex>> parts(ParallelRangeCount(n, kGrain));
  ParallelFor(n, kGrain, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const EventIndex p = parent[i];
      if (p == model::kNoEvent || name[p] != name[i]) continue;
      const EventIndex event = static_cast<EventIndex>(i);
      if (model::IsRange(trace.flags()[event]) && IsEldest(trace, event)) {
        parts[first / kGrain].push_back(event);
      }
    }
  });
  std::vector<EventIndex> all;
  for (const std::vector<EventIndex>& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

Duplicates DuplicatesOf(const Trace& trace) {
  return model::IsOfPyTorch(trace) ? Duplicates::kMerge : Duplicates::kKeep;
}

std::vector<uint8_t> DuplicateRanges(const Trace& trace) {
  const size_t n = trace.event_count();
  std::vector<uint8_t> is_duplicate(n, 0);
  const std::vector<EventIndex> candidates = Candidates(trace);
  if (candidates.empty()) return is_duplicate;

  enum : uint8_t { kHasCandidate = 1, kHasMore = 2 };
  std::vector<uint8_t> children(n, 0);  // by event, about its children
  for (const EventIndex event : candidates) {
    is_duplicate[event] = 1;
    children[trace.parent()[event]] = kHasCandidate;
  }
  ParallelFor(n, kGrain, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      if (!HasParent(trace, i) || is_duplicate[i]) continue;
      // Workers whose ranges hold children of one parent store the same value.
      std::atomic_ref<uint8_t> of_parent(children[trace.parent()[i]]);
      if (of_parent.load(std::memory_order_relaxed) == kHasCandidate) {
        of_parent.store(kHasMore, std::memory_order_relaxed);
      }
    }
  });
  for (const EventIndex event : candidates) {
    is_duplicate[event] = children[trace.parent()[event]] == kHasCandidate;
  }
  return is_duplicate;
}

}  // namespace kymo::analysis
