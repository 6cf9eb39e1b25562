#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "profiler/parquet/thrift_reader.h"
#include "profiler/parquet/thrift_writer.h"

namespace kymo::parquet {
namespace {

TEST(ThriftTest, WritesTheBytesOfTheSpecification) {
  std::string bytes;
  ThriftWriter out(bytes);
  out.Int32(1, 150);     // a step of 1, int32; zigzag 300
  out.Binary(20, "ab");  // a step over 15: the field's number follows
  out.BeginStruct(21);
  out.Bool(2, true);  // the value is the type
  out.EndStruct();
  out.BeginList(22, ThriftType::kInt32, 2);
  out.Int32Element(-1);
  out.Int32Element(1);
  out.EndStruct();
  EXPECT_EQ(bytes, std::string("\x15\xAC\x02"
                               "\x08\x28\x02"
                               "ab"
                               "\x1C\x21\x00"
                               "\x19\x25\x01\x02"
                               "\x00",
                               16));
}

std::string AllKinds() {
  std::string bytes;
  ThriftWriter out(bytes);
  out.Int64(1, std::numeric_limits<int64_t>::min());
  out.BeginList(2, ThriftType::kStruct, 20);
  for (int i = 0; i < 20; ++i) {
    out.BeginStructElement();
    out.Int32(3, i);
    out.BeginStruct(4);
    out.Binary(1, "x");
    out.EndStruct();
    out.EndStruct();
  }
  out.Bool(3, false);
  out.BeginList(4, ThriftType::kBinary, 1);
  out.BinaryElement("last");
  out.EndStruct();
  return bytes;
}

TEST(ThriftTest, ReadsWhatWasWrittenAndSkipsTheRest) {
  const std::string bytes = AllKinds();
  ThriftReader in(bytes);
  int64_t number = 0;
  int64_t sum = 0;
  std::string last;
  while (in.NextField()) {
    if (in.field() == 1) {
      number = in.Int();
    } else if (in.field() == 2) {
      for (size_t left = in.BeginList(); left > 0; --left) {
        in.BeginStruct();
        while (in.NextField())
          in.field() == 3 ? void(sum += in.Int()) : in.Skip();
      }
    } else if (in.field() == 4) {
      ASSERT_EQ(in.BeginList(), 1u);
      last = in.Binary();
    } else {
      in.Skip();
    }
  }
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(number, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(sum, 190);
  EXPECT_EQ(last, "last");

  ThriftReader skipping(bytes);
  while (skipping.NextField()) skipping.Skip();
  EXPECT_TRUE(skipping.ok());
  EXPECT_TRUE(skipping.rest().empty());
}

TEST(ThriftTest, NoPrefixIsWhole) {
  const std::string bytes = AllKinds();
  for (size_t size = 0; size < bytes.size(); ++size) {
    ThriftReader in(std::string_view(bytes).substr(0, size));
    while (in.NextField()) in.Skip();
    EXPECT_FALSE(in.ok()) << size;
  }
}

TEST(ThriftTest, AnyBytesEnd) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 60, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    ThriftReader in(bytes);
    while (in.NextField()) in.Skip();
  }
  // Structs within structs, deeper than any file of Parquet.
  const std::string nested(100'000, '\x1C');
  ThriftReader in(nested);
  while (in.NextField()) in.Skip();
  EXPECT_FALSE(in.ok());
}

}  // namespace
}  // namespace kymo::parquet
