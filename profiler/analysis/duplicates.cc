#include "profiler/analysis/duplicates.h"

#include <atomic>
#include <cstddef>

#include "profiler/base/parallel.h"
#include "profiler/model/records.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::Trace;

constexpr size_t kGrain = size_t{64} << 10;

bool IsNoChild(const Trace& trace, EventIndex event) {
  return (trace.flags()[event] & (model::kEventInstant | model::kEventAsync)) !=
         0;
}

// The first child of `parent`, which has one.
EventIndex FirstChild(const Trace& trace, EventIndex parent) {
  EventIndex child = parent + 1;
  while (IsNoChild(trace, child)) ++child;
  return child;
}

// Calls body(event, parent) for every child whose eldest sibling, perhaps
// itself, has the parent's name.
template <typename Body>
void ForCandidates(const Trace& trace, const Body& body) {
  ParallelFor(trace.event_count(), kGrain, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const EventIndex event = static_cast<EventIndex>(i);
      const EventIndex parent = trace.parent()[i];
      if (parent == model::kNoEvent || IsNoChild(trace, event)) continue;
      const EventIndex eldest = FirstChild(trace, parent);
      if (trace.name()[eldest] == trace.name()[parent]) {
        body(event, parent, eldest);
      }
    }
  });
}

}  // namespace

std::vector<uint8_t> DuplicateRanges(const Trace& trace) {
  std::vector<uint8_t> has_more_children(trace.event_count(), 0);
  ForCandidates(trace,
                [&](EventIndex event, EventIndex parent, EventIndex eldest) {
                  if (event == eldest) return;
                  // Siblings in several workers' ranges store the same 1.
                  std::atomic_ref<uint8_t>(has_more_children[parent])
                      .store(1, std::memory_order_relaxed);
                });
  std::vector<uint8_t> is_duplicate(trace.event_count(), 0);
  ForCandidates(trace,
                [&](EventIndex event, EventIndex parent, EventIndex eldest) {
                  if (event == eldest && !has_more_children[parent])
                    is_duplicate[event] = 1;
                });
  return is_duplicate;
}

}  // namespace kymo::analysis
