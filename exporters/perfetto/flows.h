// flows.h - arrows between ranges: the flow ids that the begin of a range has.
//
//   forward operation  -> its backward operation
//                         (exporters/timeline/forward_backward.h)
//   runtime call       -> each kernel, copy or fill that it launched
//                         (profiler/analysis/device/launches.h)
//
// Every arrow has an id of its own, so a call that launched many kernels has
// many ids. An arrow is left out if its end would begin before its start:
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
  // Adds the flow ids of an event to its TrackEvent.
  void Append(proto::ProtoWriter& event, model::EventIndex index) const;

 private:
  struct End {
    model::EventIndex event;
    uint32_t field;  // of the TrackEvent: flow_ids or terminating_flow_ids
    uint64_t id;
  };

  void AddArrow(const model::Trace& trace, model::EventIndex from,
                model::EventIndex to);
  void AddForwardBackward(const model::Trace& trace);
  void AddLaunches(const model::Trace& trace);

  uint64_t last_id_ = 0;
  std::vector<End> ends_;  // sorted by event, then id
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_FLOWS_H_
