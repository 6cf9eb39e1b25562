// event_packets.h - the packets of a trace's events.
//
//   EventPackets packets(trace, tracks, base_ns);
//   packets.Append(out, first, last);   // ranges in order, that cover all
//
// A range is two packets: its begin and its end. Readers match ends with begins
// by nesting. Every event also writes the ends of all ranges that end before
// the next event of its track. No state passes from one event to the next, so
// any thread can format any part of the events:
//
//   events     a            b (child of a)     c (child of a)      d
//   packets    a begins     b begins, b ends   c begins, c ends,   d begins ...
//                                              a ends
//
// Within a track, times never decrease in this order.
//
// Threads: const and safe to call concurrently.
// Cost: each column is read once. An event without arguments and flows takes
//   about 40 bytes of output and no other memory.
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
  // Adds tracks for asynchronous ranges. Times are written relative to
  // `base_ns`; no event may be earlier. `trace` must outlive this object.
  EventPackets(const model::Trace& trace, TrackTable& tracks, TimeNs base_ns);

  void Append(std::string& out, model::EventIndex begin,
              model::EventIndex end) const;

 private:
  bool IsPlain(model::EventIndex event) const;
  void AppendFull(std::string& out, model::EventIndex event) const;
  void AppendEndOf(std::string& out, model::EventIndex event,
                   const TrackField& track) const;
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
