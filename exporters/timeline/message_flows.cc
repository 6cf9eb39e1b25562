#include "exporters/timeline/message_flows.h"

#include <algorithm>

#include "profiler/analysis/ranks/messages.h"
#include "profiler/analysis/ranks/mpi_calls.h"

namespace kymo::timeline {

MessageFlows::MessageFlows(const model::Trace& trace) {
  const analysis::RankCalls calls = analysis::FindRankCalls(trace);
  if (calls.ranks.size() < 2) return;
  uint64_t id = 0;
  for (const analysis::Message& message :
       analysis::MatchMessages(trace, calls).messages) {
    // It had not come when the recording ended.
    if (trace.flags()[message.receive] & model::kEventOpen) continue;
    ++id;
    pairs_.push_back({.send = message.send, .receive = message.receive});
    ends_.push_back({.event = message.send,
                     .time_ns = trace.start()[message.send],
                     .id = id,
                     .is_start = true});
    // Within the call, not at its end, where another one may begin.
    ends_.push_back({.event = message.receive,
                     .time_ns = std::max(trace.start()[message.receive],
                                         trace.end()[message.receive] - 1),
                     .id = id,
                     .is_start = false});
  }
  std::stable_sort(ends_.begin(), ends_.end(),
                   [](const MessageEnd& a, const MessageEnd& b) {
                     return a.event < b.event;
                   });
}

std::span<const MessageEnd> MessageFlows::Of(model::EventIndex event) const {
  const auto begin =
      std::lower_bound(ends_.begin(), ends_.end(), event,
                       [](const MessageEnd& end, model::EventIndex at) {
                         return end.event < at;
                       });
  auto end = begin;
  while (end != ends_.end() && end->event == event) ++end;
  return {begin, end};
}

}  // namespace kymo::timeline
