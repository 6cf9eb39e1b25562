// event_packets.h - the packets of a trace's events.
//
//   EventPackets packets(trace, tracks, base_ns);
//   packets.Append(out, first, last);   // ranges in order, that cover all
//
// A range is two packets, its begin and its end; readers match ends to begins
// by nesting. An event's ends are written by the event before the next one of
// its track, so that no state passes from one event to the next and ranges of
// events can be formatted on any thread:
//
//   events     a            b (child of a)     c (child of a)      d
//   packets    a begins     b begins, b ends   c begins, c ends,   d begins ...
//                                              a ends
//
// Times of a track never decrease in this order.
//
// Threads: const and safe to call concurrently.
// Cost: the columns are read once; an event without arguments or flows costs
//   about 40 bytes and needs no memory but that.
#ifndef KYMO_EXPORTERS_PERFETTO_EVENT_PACKETS_H_
#define KYMO_EXPORTERS_PERFETTO_EVENT_PACKETS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exporters/perfetto/async_lanes.h"
#include "exporters/perfetto/event_args.h"
#include "exporters/perfetto/flows.h"
#include "exporters/perfetto/packet_bytes.h"
#include "exporters/perfetto/track_table.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::perfetto {

class EventPackets {
 public:
  // Times are written relative to `base_ns`, which nothing precedes. Adds
  // tracks for asynchronous ranges. `trace` must outlive the object.
  EventPackets(const model::Trace& trace, TrackTable& tracks, TimeNs base_ns);

  void Append(std::string& out, model::EventIndex begin,
              model::EventIndex end) const;

 private:
  bool IsPlain(model::EventIndex event) const;
  void AppendFull(std::string& out, model::EventIndex event) const;
  model::EventIndex ParentOfNext(model::EventIndex event) const;

  const model::Trace& trace_;
  const TimeNs base_ns_;
  const AsyncLanes lanes_;
  const EventArgs args_;
  const Flows flows_;
  std::vector<TrackField> tracks_;  // by track
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_EVENT_PACKETS_H_
