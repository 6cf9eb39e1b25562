// proto_writer.h - appends protobuf's wire format to a string.
//
//   using schema::TracePacket;   // of a generated *.pb.h
//   ProtoWriter packet(out);
//   packet.Uint(TracePacket::kTimestampFieldNumber, timestamp);
//   const size_t event = packet.Begin(TracePacket::kTrackEventFieldNumber);
//   packet.String(schema::TrackEvent::kNameFieldNumber, "matmul");
//   packet.End(event);
//
// Field numbers come from the format's .proto file. The caller keeps the types
// and the order of the fields. Lengths are as short as possible, so that equal
// messages are equal bytes. PutVarint and ShortTag are for code where every
// nanosecond counts. README.md says why the exporters write bytes themselves.
//
// Threads: none of its own. Errors: none. A string must be UTF-8 if the field
// is a `string` and not `bytes`; profiler/text/utf8.h makes it so.
#ifndef KYMO_EXPORTERS_PROTO_PROTO_WRITER_H_
#define KYMO_EXPORTERS_PROTO_PROTO_WRITER_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace kymo::proto {

enum class WireType : uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kFixed32 = 5,
};

// A map is a repeated message whose two fields have these numbers.
inline constexpr uint32_t kMapKey = 1;
inline constexpr uint32_t kMapValue = 2;

constexpr uint64_t Tag(uint32_t field, WireType type) {
  return uint64_t{field} << 3 | static_cast<uint32_t>(type);
}

// A tag of one byte.
template <uint32_t kField>
constexpr char ShortTag(WireType type) {
  static_assert(kField < 16, "the tag of this field takes two bytes");
  return static_cast<char>(Tag(kField, type));
}

inline constexpr size_t kMaxVarintBytes = 10;

// Writes `value` at `to` and returns the end of what it wrote.
// REQUIRES: `to` has room for kMaxVarintBytes, whatever the value.
inline char* PutVarint(char* to, uint64_t value) {
  if (value < 0x80) {
    *to = static_cast<char>(value);
    return to + 1;
  }
  if (value >> 56 == 0) {
    // Spreads groups of 7 bits over bytes: first halves, then quarters, then
    // eighths. There are no branches on the length, because the lengths of
    // times are hard to predict.
    const int bytes = (std::bit_width(value) + 6) / 7;
    uint64_t spread = value;
    spread = (spread & 0x00FF'FFFF'F000'0000) << 4 | (spread & 0x0FFF'FFFF);
    spread = (spread & 0x0FFF'C000'0FFF'C000) << 2 |
             (spread & 0x0000'3FFF'0000'3FFF);
    spread = (spread & 0x3F80'3F80'3F80'3F80) << 1 |
             (spread & 0x007F'007F'007F'007F);
    spread |= 0x8080'8080'8080'8080 >> (64 - 8 * (bytes - 1));
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(to, &spread, sizeof(spread));
    return to + bytes;
  }
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to = static_cast<char>(value);
  return to + 1;
}

class ProtoWriter {
 public:
  // Appends to `out`, which must outlive the writer.
  explicit ProtoWriter(std::string& out) : out_(out) {}

  void Uint(uint32_t field, uint64_t value) {
    char bytes[2 * kMaxVarintBytes];
    char* const end =
        PutVarint(PutVarint(bytes, Tag(field, WireType::kVarint)), value);
    out_.append(bytes, end);
  }
  // For int32 and int64, but not for sint32 and sint64.
  void Int(uint32_t field, int64_t value) {
    Uint(field, static_cast<uint64_t>(value));
  }
  void Fixed64(uint32_t field, uint64_t value) {
    char bytes[kMaxVarintBytes + sizeof(value)];
    char* const to = PutVarint(bytes, Tag(field, WireType::kFixed64));
    std::memcpy(to, &value, sizeof(value));
    out_.append(bytes, to + sizeof(value));
  }
  void Double(uint32_t field, double value) {
    Fixed64(field, std::bit_cast<uint64_t>(value));
  }
  void Float(uint32_t field, float value) {
    char bytes[kMaxVarintBytes + sizeof(value)];
    char* const to = PutVarint(bytes, Tag(field, WireType::kFixed32));
    std::memcpy(to, &value, sizeof(value));
    out_.append(bytes, to + sizeof(value));
  }
  // For string and bytes.
  void String(uint32_t field, std::string_view text) {
    char bytes[2 * kMaxVarintBytes];
    char* const end =
        PutVarint(PutVarint(bytes, Tag(field, WireType::kBytes)), text.size());
    out_.append(bytes, end);
    out_ += text;
  }

  // Begins a message or a packed list. The caller then appends its content to
  // the string and calls End. Messages nest: the last one to begin ends first.
  [[nodiscard]] size_t Begin(uint32_t field) {
    char bytes[kMaxVarintBytes];
    out_.append(bytes, PutVarint(bytes, Tag(field, WireType::kBytes)));
    return BeginLength();
  }
  void End(size_t begin) {
    const size_t length = out_.size() - begin;
    if (length < 0x80) {
      out_[begin - 1] = static_cast<char>(length);
      return;
    }
    char bytes[kMaxVarintBytes];
    char* const end = PutVarint(bytes, length);
    out_.replace(begin - 1, 1, bytes, static_cast<size_t>(end - bytes));
  }

 private:
  // Most messages are short, so the length gets one byte. End moves the content
  // if the length needs more.
  size_t BeginLength() {
    out_ += '\0';
    return out_.size();
  }

  std::string& out_;
};

}  // namespace kymo::proto

#endif  // KYMO_EXPORTERS_PROTO_PROTO_WRITER_H_
