#include "exporters/timeline/forward_backward.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace kymo::timeline {
namespace {

using model::Detail;
using model::EventIndex;
using model::Trace;

bool HasNumber(const Detail& detail) { return detail.sequence_nr >= 0; }

// Those with a sequence number, in the order in which they end.
std::vector<EventIndex> NumberedOperations(const Trace& trace) {
  const std::vector<Detail>& details = trace.data().details;
  if (std::none_of(details.begin(), details.end(), HasNumber)) return {};
  std::vector<EventIndex> operations;
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    const Detail* const detail = trace.detail(i);
    if (!model::IsRange(trace.flags()[i])) continue;
    if (detail != nullptr && HasNumber(*detail)) operations.push_back(i);
  }
  std::sort(
      operations.begin(), operations.end(), [&](EventIndex a, EventIndex b) {
        return std::pair(trace.end()[a], b) < std::pair(trace.end()[b], a);
      });
  return operations;
}

}  // namespace

std::vector<FlowEnd> FindForwardBackwardFlows(const Trace& trace) {
  // By process, thread and number.
  absl::flat_hash_map<std::tuple<int64_t, uint64_t, int64_t>, EventIndex>
      forward;
  std::vector<FlowEnd> flows;
  uint32_t last_id = 0;
  for (const EventIndex event : NumberedOperations(trace)) {
    const Detail& detail = *trace.detail(event);
    const model::Track& track = trace.tracks()[trace.track()[event]];
    const uint64_t forward_thread = trace.rare(detail).forward_thread;
    if (forward_thread == 0) {
      if (track.logical_id == 0) continue;
      const auto [it, is_new] = forward.try_emplace(
          {track.pid, track.logical_id, detail.sequence_nr}, event);
      if (!is_new && trace.start()[event] >= trace.start()[it->second]) {
        it->second = event;
      }
      continue;
    }
    const auto it =
        forward.find({track.pid, forward_thread, detail.sequence_nr});
    if (it == forward.end()) continue;
    ++last_id;
    flows.resize(trace.event_count());
    flows[it->second] = {.id = last_id, .is_start = 1};
    flows[event] = {.id = last_id, .is_start = 0};
    forward.erase(it);
  }
  return flows;
}

}  // namespace kymo::timeline
