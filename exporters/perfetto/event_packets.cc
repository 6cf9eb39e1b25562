#include "exporters/perfetto/event_packets.h"

#include "exporters/perfetto/interned.h"
#include "exporters/perfetto/trace.pb.h"

namespace kymo::perfetto {
namespace {

using model::EventIndex;
using schema::TrackEvent;

// Packets gather here, because a string is slow to extend by a few bytes.
class Buffer {
 public:
  explicit Buffer(std::string& out) : out_(out) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { Flush(); }

  // Where a packet of at most kMaxPlainPacket bytes may be written.
  char* Room() {
    if (end_ > bytes_ + sizeof(bytes_) - kMaxPlainPacket) Flush();
    return end_;
  }
  void SetEnd(char* end) { end_ = end; }
  // The string, after everything so far.
  std::string& Flush() {
    out_.append(bytes_, end_);
    end_ = bytes_;
    return out_;
  }

 private:
  std::string& out_;
  char bytes_[16 << 10];
  char* end_ = bytes_;
};

}  // namespace

EventPackets::EventPackets(const model::Trace& trace, TrackTable& tracks,
                           TimeNs base_ns)
    : trace_(trace),
      base_ns_(base_ns),
      lanes_(trace, tracks),
      args_(trace),
      flows_(trace) {
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    tracks_.emplace_back(tracks.of(t).uuid);
  }
}

void EventPackets::Append(std::string& out, EventIndex begin,
                          EventIndex end) const {
  const auto since_base = [this](TimeNs ns) {
    return static_cast<uint64_t>(ns - base_ns_);
  };
  Buffer buffer(out);
  for (EventIndex i = begin; i < end; ++i) {
    const TrackField& track = tracks_[trace_.track()[i]];
    const bool is_instant = trace_.flags()[i] & model::kEventInstant;
    if (IsPlain(i)) {
      buffer.SetEnd(PutBegin(
          buffer.Room(), since_base(trace_.start()[i]), track,
          is_instant ? TrackEvent::TYPE_INSTANT : TrackEvent::TYPE_SLICE_BEGIN,
          CategoryId(trace_.type()[i]), EventNameId(trace_.name()[i])));
    } else {
      AppendFull(buffer.Flush(), i);
    }
    if (trace_.flags()[i] & model::kEventAsync) continue;
    const EventIndex stop = ParentOfNext(i);
    for (EventIndex at = is_instant ? trace_.parent()[i] : i; at != stop;
         at = trace_.parent()[at]) {
      if (flows_.EndHasAny(at)) [[unlikely]] {
        AppendEndOf(buffer.Flush(), at, track);
        continue;
      }
      buffer.SetEnd(PutEnd(buffer.Room(), since_base(trace_.end()[at]), track));
    }
  }
}

bool EventPackets::IsPlain(EventIndex event) const {
  return !(trace_.flags()[event] & model::kEventAsync) && !args_.Has(event);
}

// With arguments and flows; an asynchronous range's end too.
void EventPackets::AppendFull(std::string& out, EventIndex event) const {
  const uint8_t flags = trace_.flags()[event];
  const bool is_async = (flags & model::kEventAsync) != 0;
  const TrackField track = is_async ? TrackField(lanes_.UuidOf(event))
                                    : tracks_[trace_.track()[event]];
  const bool is_instant = (flags & model::kEventInstant) != 0;
  const auto since_base = [this](TimeNs ns) {
    return static_cast<uint64_t>(ns - base_ns_);
  };
  AppendEventPacket(
      out, since_base(trace_.start()[event]), [&](proto::ProtoWriter& writer) {
        writer.Uint(TrackEvent::kTypeFieldNumber,
                    is_instant ? TrackEvent::TYPE_INSTANT
                               : TrackEvent::TYPE_SLICE_BEGIN);
        writer.Uint(TrackEvent::kTrackUuidFieldNumber, track.uuid());
        writer.Uint(TrackEvent::kCategoryIidsFieldNumber,
                    CategoryId(trace_.type()[event]));
        writer.Uint(TrackEvent::kNameIidFieldNumber,
                    EventNameId(trace_.name()[event]));
        if (!flows_.empty()) flows_.Append(writer, event);
        args_.Append(writer, event);
      });
  if (is_async && !is_instant) AppendEndOf(out, event, track);
}

// With the flows that end there.
void EventPackets::AppendEndOf(std::string& out, EventIndex event,
                               const TrackField& track) const {
  const auto time = static_cast<uint64_t>(trace_.end()[event] - base_ns_);
  if (!flows_.EndHasAny(event)) return AppendEnd(out, time, track);
  AppendEventPacket(out, time, [&](proto::ProtoWriter& writer) {
    writer.Uint(TrackEvent::kTypeFieldNumber, TrackEvent::TYPE_SLICE_END);
    writer.Uint(TrackEvent::kTrackUuidFieldNumber, track.uuid());
    flows_.AppendToEnd(writer, event);
  });
}

// The parent of the next event of the track that nests. This parent and the
// ranges around it stay open up to that event.
EventIndex EventPackets::ParentOfNext(EventIndex event) const {
  const EventIndex end = trace_.track_end(trace_.track()[event]);
  EventIndex next = event + 1;
  while (next < end && (trace_.flags()[next] & model::kEventAsync)) ++next;
  return next < end ? trace_.parent()[next] : model::kNoEvent;
}

}  // namespace kymo::perfetto
