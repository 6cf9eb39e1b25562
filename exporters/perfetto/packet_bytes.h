// packet_bytes.h - the commonest packets, byte by byte.
//
//   char buffer[2 * kMaxPlainPacket];
//   const TrackField track(uuid);
//   char* to =
//       PutBegin(buffer, start_ns, track, event::kBegin, category, name);
//   to = PutEnd(to, end_ns, track);
//
// Begins and ends of ranges are most of a file, so nothing is computed twice:
// tags are literals, a track's field is made once, and every length is one
// byte, because no such packet has 128.
#ifndef KYMO_EXPORTERS_PERFETTO_PACKET_BYTES_H_
#define KYMO_EXPORTERS_PERFETTO_PACKET_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exporters/perfetto/schema.h"
#include "exporters/proto/proto_writer.h"

namespace kymo::perfetto {

// Upper bound of what the functions below touch.
inline constexpr size_t kMaxPlainPacket = 96;

// `track_uuid` of a TrackEvent as bytes.
class TrackField {
 public:
  explicit TrackField(uint64_t uuid) : uuid_(uuid) {
    bytes_[0] = static_cast<char>(
        proto::Tag(event::kTrackUuid, proto::WireType::kVarint));
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
  static_assert(kField < 16, "tags of one byte");
  *to = static_cast<char>(proto::Tag(kField, proto::WireType::kVarint));
  return proto::PutVarint(to + 1, value);
}

template <uint32_t kField>
char* PutBegin(char* to) {
  static_assert(kField < 16, "tags of one byte");
  *to = static_cast<char>(proto::Tag(kField, proto::WireType::kBytes));
  return to + 2;  // one byte of length
}

inline char* PutLength(char* begin, char* end) {
  begin[-1] = static_cast<char>(end - begin);
  return end;
}

}  // namespace packet_bytes_internal

// A begin (or instant: `type`) without arguments. Returns the end of it.
inline char* PutBegin(char* to, uint64_t time_ns, const TrackField& track,
                      uint64_t type, uint64_t category_id, uint64_t name_id) {
  namespace bytes = packet_bytes_internal;
  char* const begin = bytes::PutBegin<kTracePacket>(to);
  to = bytes::PutField<packet::kTimestamp>(begin, time_ns);
  to = bytes::PutField<packet::kSequenceId>(to, kSequence);
  to = bytes::PutField<packet::kSequenceFlags>(to, kNeedsState);
  char* const event_begin = bytes::PutBegin<packet::kTrackEvent>(to);
  to = bytes::PutField<event::kType>(event_begin, type);
  to = track.Put(to);
  to = bytes::PutField<event::kCategoryId>(to, category_id);
  to = bytes::PutField<event::kNameId>(to, name_id);
  return bytes::PutLength(begin, bytes::PutLength(event_begin, to));
}

// The end of what the track began last and has not ended.
inline char* PutEnd(char* to, uint64_t time_ns, const TrackField& track) {
  namespace bytes = packet_bytes_internal;
  char* const begin = bytes::PutBegin<kTracePacket>(to);
  to = bytes::PutField<packet::kTimestamp>(begin, time_ns);
  to = bytes::PutField<packet::kSequenceId>(to, kSequence);
  char* const event_begin = bytes::PutBegin<packet::kTrackEvent>(to);
  to = bytes::PutField<event::kType>(event_begin, event::kEnd);
  to = track.Put(to);
  return bytes::PutLength(begin, bytes::PutLength(event_begin, to));
}

// An event's packet around whatever write(event) adds, which may be long.
template <typename Write>
void AppendEventPacket(std::string& out, uint64_t time_ns, const Write& write) {
  proto::ProtoWriter writer(out);
  const size_t packet = writer.Begin(kTracePacket);
  writer.Uint(packet::kTimestamp, time_ns);
  writer.Uint(packet::kSequenceId, kSequence);
  writer.Uint(packet::kSequenceFlags, kNeedsState);
  const size_t event = writer.Begin(packet::kTrackEvent);
  write(writer);
  writer.End(event);
  writer.End(packet);
}

// The same with an end.
inline void AppendEnd(std::string& out, uint64_t time_ns,
                      const TrackField& track) {
  char bytes[kMaxPlainPacket];
  out.append(bytes, PutEnd(bytes, time_ns, track));
}

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_PACKET_BYTES_H_
