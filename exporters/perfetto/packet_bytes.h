// packet_bytes.h - the most frequent packets, written byte by byte.
//
//   char buffer[2 * kMaxPlainPacket];
//   const TrackField track(uuid);
//   char* to = PutBegin(buffer, start_ns, track,
//                       schema::TrackEvent::TYPE_SLICE_BEGIN, category, name);
//   to = PutEnd(to, end_ns, track);
//
// Most of a file is the begins and ends of ranges, so these functions compute
// nothing twice. Tags are constants, a track's field is made once for all its
// packets, and a length takes one byte because no such packet has 128 bytes.
// exporters/proto/README.md compares the speed with protobuf's serialiser.
//
// Threads: pure functions.
#ifndef KYMO_EXPORTERS_PERFETTO_PACKET_BYTES_H_
#define KYMO_EXPORTERS_PERFETTO_PACKET_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exporters/perfetto/trace.pb.h"
#include "exporters/proto/proto_writer.h"

namespace kymo::perfetto {

// The id of the one packet sequence that holds all packets of a file.
inline constexpr uint32_t kSequence = 1;

// PutBegin and PutEnd write within this many bytes.
inline constexpr size_t kMaxPlainPacket = 96;

// The bytes of the field `track_uuid` of a TrackEvent.
class TrackField {
 public:
  explicit TrackField(uint64_t uuid) : uuid_(uuid) {
    bytes_[0] = proto::ShortTag<schema::TrackEvent::kTrackUuidFieldNumber>(
        proto::WireType::kVarint);
    size_ = static_cast<size_t>(proto::PutVarint(bytes_ + 1, uuid) - bytes_);
  }
  uint64_t uuid() const { return uuid_; }
  char* Put(char* to) const {
    std::memcpy(to, bytes_, sizeof(bytes_));  // a constant length is cheap
    return to + size_;
  }

 private:
  uint64_t uuid_;
  char bytes_[16];  // 1 + proto::kMaxVarintBytes are enough
  size_t size_;
};

namespace packet_bytes_internal {

template <uint32_t kField>
char* PutField(char* to, uint64_t value) {
  *to = proto::ShortTag<kField>(proto::WireType::kVarint);
  return proto::PutVarint(to + 1, value);
}

template <uint32_t kField>
char* PutBegin(char* to) {
  *to = proto::ShortTag<kField>(proto::WireType::kBytes);
  return to + 2;  // one byte of length
}

inline char* PutLength(char* begin, char* end) {
  begin[-1] = static_cast<char>(end - begin);
  return end;
}

}  // namespace packet_bytes_internal

// Writes a begin or an instant (see `type`) that has no arguments. Returns the
// end of what it wrote.
inline char* PutBegin(char* to, uint64_t time_ns, const TrackField& track,
                      uint64_t type, uint64_t category_id, uint64_t name_id) {
  namespace bytes = packet_bytes_internal;
  using schema::TracePacket;
  using schema::TrackEvent;
  char* const begin = bytes::PutBegin<schema::Trace::kPacketFieldNumber>(to);
  to = bytes::PutField<TracePacket::kTimestampFieldNumber>(begin, time_ns);
  to = bytes::PutField<TracePacket::kTrustedPacketSequenceIdFieldNumber>(
      to, kSequence);
  to = bytes::PutField<TracePacket::kSequenceFlagsFieldNumber>(
      to, TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
  char* const event_begin =
      bytes::PutBegin<TracePacket::kTrackEventFieldNumber>(to);
  to = bytes::PutField<TrackEvent::kTypeFieldNumber>(event_begin, type);
  to = track.Put(to);
  to = bytes::PutField<TrackEvent::kCategoryIidsFieldNumber>(to, category_id);
  to = bytes::PutField<TrackEvent::kNameIidFieldNumber>(to, name_id);
  return bytes::PutLength(begin, bytes::PutLength(event_begin, to));
}

// Writes the end of the track's innermost open slice.
inline char* PutEnd(char* to, uint64_t time_ns, const TrackField& track) {
  namespace bytes = packet_bytes_internal;
  using schema::TracePacket;
  using schema::TrackEvent;
  char* const begin = bytes::PutBegin<schema::Trace::kPacketFieldNumber>(to);
  to = bytes::PutField<TracePacket::kTimestampFieldNumber>(begin, time_ns);
  to = bytes::PutField<TracePacket::kTrustedPacketSequenceIdFieldNumber>(
      to, kSequence);
  char* const event_begin =
      bytes::PutBegin<TracePacket::kTrackEventFieldNumber>(to);
  to = bytes::PutField<TrackEvent::kTypeFieldNumber>(
      event_begin, TrackEvent::TYPE_SLICE_END);
  to = track.Put(to);
  return bytes::PutLength(begin, bytes::PutLength(event_begin, to));
}

// Writes the packet of an event whose fields write(writer) adds. The packet may
// have any length.
template <typename Write>
void AppendEventPacket(std::string& out, uint64_t time_ns, const Write& write) {
  using schema::TracePacket;
  proto::ProtoWriter writer(out);
  const size_t packet = writer.Begin(schema::Trace::kPacketFieldNumber);
  writer.Uint(TracePacket::kTimestampFieldNumber, time_ns);
  writer.Uint(TracePacket::kTrustedPacketSequenceIdFieldNumber, kSequence);
  writer.Uint(TracePacket::kSequenceFlagsFieldNumber,
              TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
  const size_t event = writer.Begin(TracePacket::kTrackEventFieldNumber);
  write(writer);
  writer.End(event);
  writer.End(packet);
}

// Writes what PutEnd does.
inline void AppendEnd(std::string& out, uint64_t time_ns,
                      const TrackField& track) {
  char bytes[kMaxPlainPacket];
  out.append(bytes, PutEnd(bytes, time_ns, track));
}

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_PACKET_BYTES_H_
