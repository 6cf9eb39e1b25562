// message_flows.h - flows from where a message of MPI was sent to where it was
// complete.
//
//   const MessageFlows messages(trace);
//   for (const MessageEnd& end : messages.Of(event)) Print(end.id);
//
// A flow begins where the sender's call begins, and ends just before that of
// the receiver is through. Of a request, these are the calls that began it and
// that found it complete. Ranks must be in one trace, on one clock.
//
// Cost: that of matching messages (profiler/analysis/ranks); nothing if the
//   trace has no ranks.
#ifndef KYMO_EXPORTERS_TIMELINE_MESSAGE_FLOWS_H_
#define KYMO_EXPORTERS_TIMELINE_MESSAGE_FLOWS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::timeline {

struct MessageEnd {
  model::EventIndex event = 0;
  TimeNs time_ns = 0;
  uint64_t id = 0;  // the same at both ends, from 1
  bool is_start = false;
};

class MessageFlows {
 public:
  explicit MessageFlows(const model::Trace& trace);

  // Those at this event.
  std::span<const MessageEnd> Of(model::EventIndex event) const;

  // Each message once: where it was sent and where it was received.
  struct Pair {
    model::EventIndex send = 0;
    model::EventIndex receive = 0;
  };
  std::span<const Pair> Pairs() const { return pairs_; }

 private:
  std::vector<MessageEnd> ends_;  // by event
  std::vector<Pair> pairs_;
};

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_MESSAGE_FLOWS_H_
