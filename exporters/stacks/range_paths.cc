#include "exporters/stacks/range_paths.h"

#include <algorithm>

#include "profiler/model/event_calls.h"

namespace kymo::stacks {

using model::EventIndex;

RangePaths::RangePaths(const model::Trace& trace) {
  // The ranges around the event at hand and their paths, outermost first.
  std::vector<std::pair<EventIndex, uint32_t>> open;
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    if (!model::IsRange(trace.flags()[i])) continue;
    while (!open.empty() && open.back().first != trace.parent()[i]) {
      open.pop_back();
    }
    const uint32_t above = open.empty() ? kNoPath : open.back().second;
    const uint32_t path = Find(above, trace.track()[i], trace.name()[i]);
    const DurationNs duration_ns = trace.end()[i] - trace.start()[i];
    paths_[path].self_ns += duration_ns;
    paths_[path].calls += model::Calls(trace, i);
    if (above != kNoPath) paths_[above].self_ns -= duration_ns;
    open.emplace_back(i, path);
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
