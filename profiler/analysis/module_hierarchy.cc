#include "profiler/analysis/module_hierarchy.h"

#include <algorithm>
#include <cstdint>

namespace kymo::analysis {

using model::EventIndex;

ModuleHierarchy::ModuleHierarchy(const model::Trace& trace) : trace_(trace) {
  const auto flags = trace.flags();
  uint8_t all_flags = 0;
  for (const uint8_t event_flags : flags) all_flags |= event_flags;
  if (!(all_flags & model::kEventModule)) return;
  innermost_.assign(trace.event_count(), model::kNoEvent);
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    const EventIndex parent = trace.parent()[i];
    if (parent == model::kNoEvent) continue;
    innermost_[i] =
        flags[parent] & model::kEventModule ? parent : innermost_[parent];
  }
}

std::vector<std::string_view> ModuleHierarchy::Names(EventIndex event) const {
  std::vector<std::string_view> names;
  for (EventIndex module = innermost_[event]; module != model::kNoEvent;
       module = innermost_[module]) {
    // Of more there are the 63 innermost ones and the marker.
    if (names.size() + 1 == kMostModules &&
        innermost_[module] != model::kNoEvent) {
      names.push_back(kMoreModules);
      break;
    }
    names.push_back(trace_.EventName(module));
  }
  std::reverse(names.begin(), names.end());
  return names;
}

std::string ModuleHierarchy::Text(EventIndex event) const {
  std::string text;
  for (const std::string_view name : Names(event)) {
    text += name;
    text += '.';
  }
  return text;
}

}  // namespace kymo::analysis
