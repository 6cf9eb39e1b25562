#include "exporters/stacks/range_paths.h"

#include <algorithm>

#include "profiler/analysis/call_tree.h"

namespace kymo::stacks {

using model::EventIndex;

RangePaths::RangePaths(const model::Trace& trace) {
  const auto self = analysis::SelfTimes(trace);
  std::vector<uint32_t> path_of_event(trace.event_count(), kNoPath);
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    if (trace.flags()[i] & (model::kEventInstant | model::kEventAsync)) {
      continue;
    }
    const EventIndex parent = trace.parent()[i];
    const uint32_t path =
        Find(parent == model::kNoEvent ? kNoPath : path_of_event[parent],
             trace.track()[i], trace.name()[i]);
    path_of_event[i] = path;
    paths_[path].self_ns += self[i];
    ++paths_[path].calls;
  }
}

uint32_t RangePaths::Find(uint32_t parent, model::TrackIndex track,
                          model::NameId name) {
  const uint64_t above = parent == kNoPath ? uint64_t{1} << 32 | track : parent;
  const auto [it, is_new] = ids_.try_emplace(
      {above, Index(name)}, static_cast<uint32_t>(paths_.size()));
  if (is_new) paths_.push_back({parent, track, name});
  return it->second;
}

bool HasRanges(const model::Trace& trace) {
  return std::any_of(
      trace.flags().begin(), trace.flags().end(),
      [](uint8_t flags) { return (flags & model::kEventInstant) == 0; });
}

}  // namespace kymo::stacks
