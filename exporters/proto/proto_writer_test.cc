#include "exporters/proto/proto_writer.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>

namespace kymo::proto {
namespace {

std::string Varint(uint64_t value) {
  char bytes[kMaxVarintBytes];
  return std::string(bytes, PutVarint(bytes, value));
}

std::string ProtobufsVarint(uint64_t value) {
  uint8_t bytes[kMaxVarintBytes];
  uint8_t* const end =
      google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(value,
                                                                    bytes);
  return std::string(bytes, end);
}

TEST(ProtoWriterTest, ReplaysTheExample) {
  std::string out;
  ProtoWriter packet(out);
  packet.Uint(8, 1'000);
  const size_t event = packet.Begin(11);
  packet.String(23, "matmul");
  packet.End(event);
  EXPECT_EQ(out, "\x40\xE8\x07\x5A\x09\xBA\x01\x06matmul");
}

TEST(ProtoWriterTest, VarintsAreProtobufs) {
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    for (const uint64_t value : {power - 1, power, power + 1, ~power}) {
      EXPECT_EQ(Varint(value), ProtobufsVarint(value)) << value;
    }
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t value = random() >> (random() % 64);
    ASSERT_EQ(Varint(value), ProtobufsVarint(value)) << value;
  }
}

TEST(ProtoWriterTest, LongMessagesGetLongLengths) {
  for (const size_t length : {0, 127, 128, 16'383, 16'384, 3'000'000}) {
    std::string out = "before";
    ProtoWriter writer(out);
    const size_t outer = writer.Begin(1);
    const size_t inner = writer.Begin(2);
    out.append(length, 'x');
    writer.End(inner);
    writer.End(outer);
    const std::string body =
        "\x12" + ProtobufsVarint(length) + std::string(length, 'x');
    EXPECT_TRUE(out == "before\x0A" + ProtobufsVarint(body.size()) + body)
        << length;
  }
}

TEST(ProtoWriterTest, ShortTagsAreTags) {
  for (const WireType type : {WireType::kVarint, WireType::kBytes}) {
    std::string out;
    ProtoWriter writer(out);
    if (type == WireType::kVarint) {
      writer.Uint(15, 0);
    } else {
      writer.String(15, "");
    }
    EXPECT_EQ(out[0], ShortTag<15>(type));
  }
}

TEST(ProtoWriterTest, NumbersOfOtherTypes) {
  std::string out;
  ProtoWriter writer(out);
  writer.Int(1, -1);
  writer.Fixed64(47, 77);
  writer.Double(2, 1.0);
  writer.Float(2, -0.5f);
  const size_t list = writer.Begin(3);
  out += Varint(1) + Varint(300);
  writer.End(list);
  EXPECT_EQ(out, std::string("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"
                             "\xF9\x02\x4D\0\0\0\0\0\0\0"
                             "\x11\0\0\0\0\0\0\xF0\x3F"
                             "\x15\0\0\0\xBF"
                             "\x1A\x03\x01\xAC\x02",
                             40));
}

}  // namespace
}  // namespace kymo::proto
