// flows.h - arrows between ranges: the flow ids that the begin or the end of a
// range has.
//
//   forward operation  -> its backward operation
//                         (exporters/timeline/forward_backward.h)
//   runtime call       -> each kernel, copy or fill that it launched
//                         (profiler/analysis/device/launches.h)
//   sent message       -> where it was received, at the end of that range
//                         (exporters/timeline/message_flows.h)
//
// Every arrow has an id of its own, so a call that launched many kernels has
// many ids. An arrow is left out if its end would come before its start:
// viewers read a file in the order of time and would see an end without a
// start.
//
// Threads: const and safe to call concurrently.
#ifndef KYMO_EXPORTERS_PERFETTO_FLOWS_H_
#define KYMO_EXPORTERS_PERFETTO_FLOWS_H_

#include <cstdint>
#include <vector>

#include "exporters/proto/proto_writer.h"
#include "profiler/model/trace.h"

namespace kymo::perfetto {

class Flows {
 public:
  explicit Flows(const model::Trace& trace);

  bool empty() const { return ends_.empty(); }
  // Adds the flow ids of an event's begin to that TrackEvent.
  void Append(proto::ProtoWriter& event, model::EventIndex index) const;
  // The same of its end.
  bool EndHasAny(model::EventIndex index) const;
  void AppendToEnd(proto::ProtoWriter& event, model::EventIndex index) const;

 private:
  struct End {
    model::EventIndex event;
    uint32_t field;  // of the TrackEvent: flow_ids or terminating_flow_ids
    uint64_t id;
  };
  using Ends = std::vector<End>;  // sorted by event, then id

  void AddArrow(const model::Trace& trace, model::EventIndex from,
                model::EventIndex to);
  void AddForwardBackward(const model::Trace& trace);
  void AddLaunches(const model::Trace& trace);
  void AddMessages(const model::Trace& trace);
  static Ends::const_iterator First(const Ends& ends, model::EventIndex index);
  static void AppendOf(const Ends& ends, proto::ProtoWriter& event,
                       model::EventIndex index);

  uint64_t last_id_ = 0;
  Ends ends_;      // at the begin of events
  Ends received_;  // at their end
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_FLOWS_H_
