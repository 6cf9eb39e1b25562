#include "exporters/perfetto/flows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "exporters/perfetto/schema.h"
#include "exporters/timeline/forward_backward.h"

namespace kymo::perfetto {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::Trace;

bool IsRuntimeCall(ActivityType type) {
  return type == ActivityType::kCudaRuntime ||
         type == ActivityType::kCudaDriver;
}

bool IsDeviceWork(ActivityType type) {
  return type == ActivityType::kConcurrentKernel ||
         type == ActivityType::kGpuMemcpy || type == ActivityType::kGpuMemset;
}

}  // namespace

Flows::Flows(const Trace& trace) {
  AddForwardBackward(trace);
  AddLaunches(trace);
  std::sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
    return std::tie(a.event, a.id) < std::tie(b.event, b.id);
  });
}

void Flows::AddArrow(const Trace& trace, EventIndex from, EventIndex to) {
  // At one time, the order of the file counts.
  if (std::pair(trace.start()[from], from) > std::pair(trace.start()[to], to)) {
    return;
  }
  ++last_id_;
  ends_.push_back({from, event::kFlowId, last_id_});
  ends_.push_back({to, event::kTerminatingFlowId, last_id_});
}

void Flows::AddForwardBackward(const Trace& trace) {
  const auto flows = timeline::FindForwardBackwardFlows(trace);
  std::vector<std::pair<EventIndex, EventIndex>> arrows;  // by id, from 1
  for (EventIndex i = 0; i < flows.size(); ++i) {
    if (flows[i].id == 0) continue;
    if (arrows.size() < flows[i].id) arrows.resize(flows[i].id);
    auto& [from, to] = arrows[flows[i].id - 1];
    (flows[i].is_start ? from : to) = i;
  }
  for (const auto& [from, to] : arrows) AddArrow(trace, from, to);
}

void Flows::AddLaunches(const Trace& trace) {
  const auto correlation = [&](EventIndex i) -> uint64_t {
    constexpr uint8_t kNoSlice = model::kEventInstant;
    const model::Detail* const detail = trace.detail(i);
    if (detail == nullptr || (trace.flags()[i] & kNoSlice)) return 0;
    return detail->correlation_id;
  };
  const auto has_id = [](const model::Detail& d) {
    return d.correlation_id != 0;
  };
  const auto& details = trace.data().details;
  if (std::none_of(details.begin(), details.end(), has_id)) return;
  absl::flat_hash_map<uint64_t, EventIndex> calls;
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    if (!IsRuntimeCall(trace.type()[i])) continue;
    if (const uint64_t id = correlation(i)) calls.try_emplace(id, i);
  }
  if (calls.empty()) return;
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    if (!IsDeviceWork(trace.type()[i])) continue;
    const auto call = calls.find(correlation(i));
    if (call != calls.end()) AddArrow(trace, call->second, i);
  }
}

void Flows::Append(proto::ProtoWriter& event, EventIndex index) const {
  auto it = std::lower_bound(
      ends_.begin(), ends_.end(), index,
      [](const End& end, EventIndex i) { return end.event < i; });
  for (; it != ends_.end() && it->event == index; ++it) {
    event.Fixed64(it->field, it->id);
  }
}

}  // namespace kymo::perfetto
