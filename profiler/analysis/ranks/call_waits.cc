#include "profiler/analysis/ranks/call_waits.h"

namespace kymo::analysis {

CallWaits::CallWaits(const model::Trace& trace,
                     const std::vector<CollectiveOperation>& collectives,
                     const MatchedMessages& messages,
                     const RequestWaits& requests) {
  for (const CollectiveOperation& operation : collectives) {
    for (const CollectivePart& part : operation.parts) {
      if (part.never_came) {
        Add(trace, part.event, part.waiting_ns, model::kNoEvent,
            *part.never_came);
        continue;
      }
      const CollectivePart& late = operation.parts[part.awaits];
      // A call that was over before did not wait for that.
      if (trace.start()[late.event] > trace.end()[part.event]) continue;
      Add(trace, part.event, part.waiting_ns, late.event, late.rank);
    }
  }
  for (const Message& message : messages.messages) {
    Add(trace, message.awaited_in, message.late_sender_ns, message.sender_came,
        message.from);
    Add(trace, message.send, message.late_receiver_ns, message.receiver_came,
        message.to);
  }
  for (const UnansweredCall& call : messages.unanswered) {
    Add(trace, call.event, call.waiting_ns, model::kNoEvent, call.awaited);
  }
  for (const auto& of_rank : requests.by_rank()) {
    for (const RequestWait& wait : of_rank) {
      Add(trace, wait.event, wait.waiting_ns, wait.late_event, wait.late_rank);
    }
  }
}

void CallWaits::Add(const model::Trace& trace, model::EventIndex call,
                    DurationNs waiting, model::EventIndex late, size_t rank) {
  if (waiting <= 0) return;
  LateEvent& wait = waits_[call];
  const TimeNs until = trace.start()[call] + waiting;
  if (until > wait.until_ns) wait = {until, late, rank};
}

}  // namespace kymo::analysis
