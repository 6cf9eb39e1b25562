#include "exporters/perfetto/flows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "exporters/perfetto/trace.pb.h"
#include "exporters/timeline/forward_backward.h"
#include "exporters/timeline/message_flows.h"
#include "profiler/analysis/device/launches.h"

namespace kymo::perfetto {
namespace {

using model::EventIndex;
using model::Trace;
using schema::TrackEvent;

bool IsSlice(const Trace& trace, EventIndex event) {
  return (trace.flags()[event] & model::kEventInstant) == 0;
}

}  // namespace

Flows::Flows(const Trace& trace) {
  AddForwardBackward(trace);
  AddLaunches(trace);
  AddMessages(trace);
  for (Ends* const ends : {&ends_, &received_}) {
    std::sort(ends->begin(), ends->end(), [](const End& a, const End& b) {
      return std::tie(a.event, a.id) < std::tie(b.event, b.id);
    });
  }
}

void Flows::AddArrow(const Trace& trace, EventIndex from, EventIndex to) {
  // At one time, the order of the file counts.
  if (std::pair(trace.start()[from], from) > std::pair(trace.start()[to], to)) {
    return;
  }
  ++last_id_;
  ends_.push_back({from, TrackEvent::kFlowIdsFieldNumber, last_id_});
  ends_.push_back({to, TrackEvent::kTerminatingFlowIdsFieldNumber, last_id_});
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
  const analysis::Launches launches(trace);
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    if (trace.tracks()[t].kind != model::TrackKind::kStream) continue;
    for (EventIndex i = trace.track_begin(t); i < trace.track_end(t); ++i) {
      const EventIndex call = launches.LauncherOf(i);
      if (call == model::kNoEvent) continue;
      if (IsSlice(trace, i) && IsSlice(trace, call)) AddArrow(trace, call, i);
    }
  }
}

// A receive often begins before its message is sent, so arrows go to its end.
void Flows::AddMessages(const Trace& trace) {
  const timeline::MessageFlows messages(trace);
  for (const auto& [send, receive] : messages.Pairs()) {
    if (trace.start()[send] >= trace.end()[receive]) continue;
    ++last_id_;
    ends_.push_back({send, TrackEvent::kFlowIdsFieldNumber, last_id_});
    received_.push_back(
        {receive, TrackEvent::kTerminatingFlowIdsFieldNumber, last_id_});
  }
}

void Flows::Append(proto::ProtoWriter& event, EventIndex index) const {
  AppendOf(ends_, event, index);
}

bool Flows::EndHasAny(EventIndex index) const {
  return !received_.empty() && First(received_, index) != received_.end();
}

void Flows::AppendToEnd(proto::ProtoWriter& event, EventIndex index) const {
  AppendOf(received_, event, index);
}

// The first one of the event; end() if there is none.
Flows::Ends::const_iterator Flows::First(const Ends& ends, EventIndex index) {
  const auto it = std::lower_bound(
      ends.begin(), ends.end(), index,
      [](const End& end, EventIndex i) { return end.event < i; });
  return it == ends.end() || it->event == index ? it : ends.end();
}

void Flows::AppendOf(const Ends& ends, proto::ProtoWriter& event,
                     EventIndex index) {
  for (auto it = First(ends, index); it != ends.end() && it->event == index;
       ++it) {
    event.Fixed64(it->field, it->id);
  }
}

}  // namespace kymo::perfetto
