// How payloads become arguments. tests/nvtx/payload_test.cc has the same seen
// from a user's trace.
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/nvtx/nvtx_backend.h"
#include "backends/nvtx/target/nvtx_abi.h"
#include "backends/nvtx/test_program.h"
#include "backends/stream/test_capture.h"
#include "gtest/gtest.h"

namespace kymo::nvtx {
namespace {

using Texts = std::vector<std::string>;

constexpr Handle kNoDomain = nullptr;

class NvtxPayloadTest : public testing::Test {
 protected:
  uint64_t Register(const std::vector<SchemaEntry>& entries,
                    size_t static_size = 0, size_t pack = 0) const {
    const SchemaAttributes attributes = {
        .fields = (static_size != 0 ? kSchemaHasStaticSize : 0) |
                  (pack != 0 ? kSchemaHasAlignment : 0),
        .entries = entries.data(),
        .entry_count = entries.size(),
        .static_size = static_size,
        .pack_align = pack};
    return nvtx_.Payload<uint64_t>(kSchemaRegister, kNoDomain, &attributes);
  }
  uint64_t RegisterEnum(const std::vector<EnumEntry>& entries,
                        size_t size) const {
    const EnumAttributes attributes = {.fields = size == 0 ? 0 : kEnumHasSize,
                                       .entries = entries.data(),
                                       .entry_count = entries.size(),
                                       .size = size};
    return nvtx_.Payload<uint64_t>(kEnumRegister, kNoDomain, &attributes);
  }
  void Mark(uint64_t schema, const void* data, size_t size) const {
    const PayloadData payload = {schema, size, data};
    nvtx_.Payload<void>(kMarkPayload, kNoDomain, &payload, size_t{1});
  }
  // What becomes of one event with that payload.
  std::string Shown(uint64_t schema, const void* data, size_t size) const {
    stream::TestCapture capture(NewNvtxBackend());
    Mark(schema, data, size);
    const Texts texts = capture.Stop();
    EXPECT_EQ(texts.size(), 1u);
    constexpr std::string_view kBegin = "mark (no name)";
    return texts.at(0).substr(texts[0].starts_with(kBegin) ? kBegin.size() : 0);
  }
  std::string Shown(uint64_t schema, std::string_view bytes) const {
    return Shown(schema, bytes.data(), bytes.size());
  }

  const TestProgram& nvtx_ = TestProgram::Get();
};

// All bits set tell sizes and signs apart. One byte less is too short.
TEST_F(NvtxPayloadTest, TypesHaveTheirSizesAndSigns) {
  struct Case {
    uint64_t type;
    size_t size;
    bool is_signed;
  };
  const Case cases[] = {
      {kTypeUchar, 1, false},   {kTypeUint8, 1, false},
      {kTypeByte, 1, false},    {kTypeInt8, 1, true},
      {kTypeShort, 2, true},    {kTypeInt16, 2, true},
      {kTypeUshort, 2, false},  {kTypeUint16, 2, false},
      {kTypeChar16, 2, false},  {kTypeInt, 4, true},
      {kTypeInt32, 4, true},    {kTypeUint, 4, false},
      {kTypeUint32, 4, false},  {kTypeWchar, 4, false},
      {kTypeChar32, 4, false},  {kTypeCategory, 4, false},
      {kTypeColor, 4, false},   {kTypePid32, 4, false},
      {kTypeTid32, 4, false},   {kTypeLong, 8, true},
      {kTypeLonglong, 8, true}, {kTypeInt64, 8, true},
      {kTypeUlong, 8, false},   {kTypeUlonglong, 8, false},
      {kTypeUint64, 8, false},  {kTypeSize, 8, false},
      {kTypeScopeId, 8, false}, {kTypePid64, 8, false},
      {kTypeTid64, 8, false},
  };
  stream::TestCapture capture(NewNvtxBackend());
  const std::string ones(8, '\xff');
  Texts expected;
  for (const Case& c : cases) {
    Mark(c.type, ones.data(), c.size);
    const uint64_t largest = ~uint64_t{0} >> (64 - 8 * c.size);
    expected.push_back("mark (no name), payload=" +
                       (c.is_signed ? "-1" : std::to_string(largest)));
    Mark(c.type, ones.data(), c.size - 1);
    expected.push_back("mark (no name), payload=(not shown)");
  }
  EXPECT_EQ(capture.Stop(), expected);
}

TEST_F(NvtxPayloadTest, ValuesThatAreNoIntegers) {
  const float half = 0.5;
  const double large = 1e300;
  const uint64_t address = 0xfedcba9876543210;
  const char* const text = "text";
  for (const uint64_t type : {kTypeFloat, kTypeFloat32}) {
    EXPECT_EQ(Shown(type, &half, 4), ", payload=double 0.5");
  }
  for (const uint64_t type : {kTypeDouble, kTypeFloat64}) {
    EXPECT_EQ(Shown(type, &large, 8), ", payload=double 1e+300");
    EXPECT_EQ(Shown(type, &large, 7), ", payload=(not shown)");
  }
  EXPECT_EQ(Shown(kTypeChar, "x"), ", payload=x");
  EXPECT_EQ(Shown(kTypeChar8, "x"), ", payload=x");
  EXPECT_EQ(Shown(kTypeAddress, &address, 8), ", payload=0xfedcba9876543210");
  // By the interface, the payload is the text itself.
  EXPECT_EQ(Shown(kTypeCstring, std::string_view("a\0b", 3)), ", payload=a");
  EXPECT_EQ(Shown(kTypeCstringUtf8, "ab"), ", payload=ab");
  EXPECT_EQ(Shown(kTypeLongDouble, std::string(16, 'x')),
            ", payload=(not shown)");
  EXPECT_EQ(Shown(kSchemaRaw, "12345"), ", payload=5 bytes");
  EXPECT_EQ(Shown(kSchemaReferenced, "12345"), "");
  EXPECT_EQ(Shown(uint64_t{1} << 50, "1234567"), ", payload=7 bytes");
  EXPECT_EQ(Shown(kTypeInt8, nullptr, 1), "");
  EXPECT_EQ(Shown(Register({{.type = kTypeCstring, .name = "far"}}), &text, 8),
            ", far=text");
}

TEST_F(NvtxPayloadTest, EntriesAreAlignedAsTheirSchemaPacksThem) {
  const std::vector<SchemaEntry> entries = {
      {.type = kTypeInt8, .name = "a"},
      {.type = kTypeInt32, .name = "b"},
      {.type = kTypeInt16, .name = "c"},
      {.type = kTypeInt64, .name = "d"},
      {.type = kTypeInt8, .name = "e", .offset = 3}};
  std::string bytes(32, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
  const auto at = [](size_t offset, size_t size) {  // little-endian
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) value = value << 8 | (offset + i);
    return std::to_string(value);
  };
  const auto expect = [&](size_t pack, size_t b, size_t c, size_t d) {
    EXPECT_EQ(Shown(Register(entries, 0, pack), bytes),
              ", a=0, b=" + at(b, 4) + ", c=" + at(c, 2) + ", d=" + at(d, 8) +
                  ", e=3")
        << pack;
  };
  expect(0, 4, 8, 16);
  expect(1, 1, 5, 7);
  expect(2, 2, 6, 8);
  expect(4, 4, 8, 12);
  expect(8, 4, 8, 16);
  expect(16, 4, 8, 16);
}

TEST_F(NvtxPayloadTest, EntriesBeyondTheEndAreLeftOut) {
  const uint64_t id = Register({{.type = kTypeInt8, .name = "a"},
                                {.type = kTypeInt32, .name = "b"},
                                {.type = kTypeInt8, .name = "c"}});
  const std::string bytes(9, '\1');
  EXPECT_EQ(Shown(id, bytes), ", a=1, b=16843009, c=1");
  EXPECT_EQ(Shown(id, std::string_view(bytes).substr(0, 8)),
            ", a=1, b=16843009");
  EXPECT_EQ(Shown(id, std::string_view(bytes).substr(0, 7)), ", a=1");
  EXPECT_EQ(Shown(id, ""), "");
  // As long as the schema says; it says nothing.
  EXPECT_EQ(Shown(id, bytes.data(), ~size_t{0}), "");
  EXPECT_EQ(Shown(Register({{.type = kTypeInt8, .name = "a"}}, 1), bytes.data(),
                  ~size_t{0}),
            ", a=1");
}

TEST_F(NvtxPayloadTest, ArraysAndTexts) {
  const auto array = [&](uint64_t type, size_t count, std::string_view bytes,
                         uint64_t flags = kEntryArrayFixed) {
    return Shown(
        Register(
            {{.flags = flags, .type = type, .name = "x", .array_detail = count},
             {.type = kTypeInt8, .name = "y"}}),
        bytes);
  };
  EXPECT_EQ(array(kTypeInt8, 3, "\xff\1\2\3"), ", x=[-1, 1, 2], y=3");
  EXPECT_EQ(array(kTypeUint8, 2, "\xff\1\5"), ", x=[255, 1], y=5");
  EXPECT_EQ(array(kTypeInt8, 0, "\5"), ", x=[], y=5");
  EXPECT_EQ(array(kTypeInt8, 5, "\1\2\3\4"), "");
  const float numbers[] = {0.5, -1};
  EXPECT_EQ(array(kTypeFloat, 2, {reinterpret_cast<const char*>(numbers), 8}),
            ", x=[0.5, -1]");
  EXPECT_EQ(array(kTypeChar, 4, std::string_view("ab\0c\7", 5)), ", x=ab, y=7");
  EXPECT_EQ(array(kTypeCstring, 4, std::string_view("ab\0c\7", 5)),
            ", x=ab, y=7");
  EXPECT_EQ(array(kTypeCstringUtf8, 2, "ab\7", 0), ", x=ab, y=7");
  EXPECT_EQ(array(kTypeCstring, 4, "abc"), "");
  EXPECT_EQ(array(kTypeInt8, 2, "\1\2\3", kEntryArrayZeroTerminated),
            ", x=(not shown)");
  EXPECT_EQ(array(kTypeInt8, 0, "\1\2\3", kEntryArrayLengthAt),
            ", x=(not shown)");
  EXPECT_EQ(array(kTypeInt8, 0, "\1\2\3", kEntryOffsetFromBase),
            ", x=(not shown)");
  EXPECT_EQ(array(kTypeInt8, 0, "\1\2\3", kEntryOffsetFromHere),
            ", x=(not shown)");
  EXPECT_EQ(array(kTypeLongDouble, 0, "\1\2\3", 0), ", x=(not shown)");
  // No more than 64 elements are shown.
  std::string list = "1";
  for (int i = 1; i < 64; ++i) list += ", 1";
  EXPECT_EQ(array(kTypeInt8, 64, std::string(65, '\1')),
            ", x=[" + list + "], y=1");
  EXPECT_EQ(array(kTypeInt8, 65, std::string(66, '\1')),
            ", x=[" + list + ", ...], y=1");
}

TEST_F(NvtxPayloadTest, LongListsEndWithAnElement) {
  std::vector<double> numbers(64, -1.2345678901234568e-300);
  const std::string shown =
      Shown(Register({{.flags = kEntryArrayFixed,
                       .type = kTypeDouble,
                       .name = "x",
                       .array_detail = numbers.size()}}),
            numbers.data(), numbers.size() * sizeof(double));
  EXPECT_TRUE(shown.ends_with("-1.2345678901234568e-300, ...]")) << shown;
  EXPECT_GT(shown.size(), 900u);
}

TEST_F(NvtxPayloadTest, PointersAreAddressesUnlessTheyLeadToTexts) {
  const uint64_t bits = 0x12ab;
  const auto shown = [&](uint64_t flags, uint64_t type, uint64_t value) {
    return Shown(Register({{.flags = flags, .type = type, .name = "x"}}),
                 &value, sizeof(value));
  };
  const std::string address = ", x=0x00000000000012ab";
  EXPECT_EQ(shown(kEntryIsPointer, kTypeInt8, bits), address);
  EXPECT_EQ(shown(kEntryIsPointer, kTypeCstring, bits), address);
  EXPECT_EQ(shown(kEntryIsPointer | kEntryArrayZeroTerminated, kTypeInt8, bits),
            address);
  EXPECT_EQ(shown(0, kTypeAddress, bits), address);
  EXPECT_EQ(shown(0, kTypeRegisteredString, bits), address);
  EXPECT_EQ(shown(0, kTypeCstring, 0), ", x=0x0000000000000000");
  const auto text =
      nvtx_.Core2<Handle>(kDomainRegisterStringA, kNoDomain, "registered");
  const auto handle = reinterpret_cast<uint64_t>(text);
  EXPECT_EQ(shown(0, kTypeRegisteredString, handle), ", x=registered");
  EXPECT_EQ(shown(kEntryIsMessage, kTypeRegisteredString, handle),
            "mark registered");
  EXPECT_EQ(shown(kEntryIsMessage, kTypeRegisteredString, bits), "");
  EXPECT_EQ(shown(kEntryIsMessage, kTypeCstring,
                  reinterpret_cast<uint64_t>("the message")),
            "mark the message");
  nvtx_.Core<void>(kNameCategoryA, 7u, "seven");
  EXPECT_EQ(shown(0, kTypeCategory, 7), ", x=seven");
  EXPECT_EQ(shown(0, kTypeCategory, 8), ", x=8");
  // A text within the payload may be the message, too.
  EXPECT_EQ(Shown(Register({{.flags = kEntryIsMessage,
                             .type = kTypeCstring,
                             .name = "x",
                             .array_detail = 4}}),
                  "here"),
            "mark here");
}

TEST_F(NvtxPayloadTest, SchemasWithinSchemas) {
  const uint64_t inner =
      Register({{.type = kTypeInt8, .name = "a"}, {.type = kTypeInt16}});
  const std::string bytes("\1\0\2\0\3\0\4\0\5\0\6\0", 12);
  // Aligned as its largest entry; what follows begins behind its last.
  const uint64_t outer = Register({{.type = kTypeInt8, .name = "x"},
                                   {.type = inner, .name = "in"},
                                   {.type = kTypeInt8, .name = "y"}});
  EXPECT_EQ(Shown(outer, bytes), ", x=1, in.a=2, in.entry=3, y=4");
  // Its own size says where the next one begins.
  const uint64_t sized = Register({{.type = kTypeInt8, .name = "a"}}, 4);
  EXPECT_EQ(Shown(Register({{.type = sized, .name = "s"},
                            {.type = kTypeInt8, .name = "y"}}),
                  bytes),
            ", s.a=1, y=3");
  EXPECT_EQ(Shown(Register({{.type = inner, .offset = 4},
                            {.type = kTypeInt8, .name = "y"}}),
                  bytes),
            ", entry.a=3, entry.entry=4, y=5");
  // Packed within itself, so it may begin anywhere.
  const uint64_t packed = Register(
      {{.type = kTypeInt8, .name = "a"}, {.type = kTypeInt16, .name = "b"}}, 0,
      1);
  EXPECT_EQ(Shown(Register({{.type = kTypeInt8, .name = "x"},
                            {.type = packed, .name = "p"},
                            {.type = kTypeInt8, .name = "y"}}),
                  bytes),
            ", x=1, p.a=0, p.b=2, y=3");
  // Pointers and nested schemas align it, texts do not.
  const uint64_t with_pointer =
      Register({{.type = kTypeInt8, .name = "a"},
                {.flags = kEntryIsPointer, .type = kTypeInt8, .name = "p"}});
  std::string long_bytes(24, '\0');
  long_bytes[8] = '\7';
  long_bytes[16] = '\x10';
  EXPECT_EQ(Shown(Register({{.type = kTypeInt8, .name = "x"},
                            {.type = with_pointer, .name = "in"}}),
                  long_bytes),
            ", x=0, in.a=7, in.p=0x0000000000000010");
  const uint64_t with_text = Register({{.flags = kEntryArrayFixed,
                                        .type = kTypeCstring,
                                        .name = "t",
                                        .array_detail = 2}});
  EXPECT_EQ(Shown(Register({{.type = kTypeInt8, .name = "x"},
                            {.type = with_text, .name = "in"}}),
                  "\1ab"),
            ", x=1, in.t=ab");
  EXPECT_EQ(Shown(Register({{.flags = kEntryArrayFixed,
                             .type = inner,
                             .name = "list",
                             .array_detail = 2}}),
                  bytes),
            ", list=(not shown)");
  EXPECT_EQ(Shown(Register({{.type = uint64_t{1} << 60, .name = "nobody's"},
                            {.type = kTypeInt8, .name = "y"}}),
                  bytes),
            ", nobody's=(not shown)");
}

TEST_F(NvtxPayloadTest, FourSchemasWithinEachOtherAreShown) {
  uint64_t id = Register({{.type = kTypeInt8, .name = "a"}});
  for (int depth = 1; depth <= 5; ++depth) {
    id = Register({{.type = id, .name = "s"}});
    EXPECT_EQ(Shown(id, "\1"), depth <= 4 ? ", s.a=1" : ", s.s=(not shown)");
  }
}

TEST_F(NvtxPayloadTest, Enums) {
  const uint64_t modes = RegisterEnum(
      {{"read", 1, 1}, {"write", 4, 1}, {"none", 0, 1}, {"one", 16, 0}}, 2);
  const uint64_t plain = RegisterEnum({{"three", 3, 0}, {nullptr, 4, 0}}, 0);
  const auto shown = [&](uint64_t type, uint32_t value) {
    return Shown(Register({{.type = type, .name = "e"},
                           {.type = kTypeUint8, .name = "y"}}),
                 std::string(reinterpret_cast<const char*>(&value), 4) + "\11");
  };
  // The third byte is what follows an enum of two bytes.
  EXPECT_EQ(shown(modes, 1 | 5 << 16), ", e=read, y=5");
  EXPECT_EQ(shown(modes, 0), ", e=none, y=0");
  EXPECT_EQ(shown(modes, 5), ", e=read|write, y=0");
  EXPECT_EQ(shown(modes, 4 | 2), ", e=write|2, y=0");
  EXPECT_EQ(shown(modes, 16), ", e=one, y=0");
  EXPECT_EQ(shown(modes, 17), ", e=read|16, y=0");  // `one` is no flag
  EXPECT_EQ(shown(modes, 8), ", e=8, y=0");
  EXPECT_EQ(shown(plain, 3), ", e=three, y=9");
  EXPECT_EQ(shown(plain, 4), ", e=4, y=9");
  // Of an impossible size.
  EXPECT_EQ(shown(RegisterEnum({{"three", 3, 0}}, 9), 3), "");
  const uint64_t wide = RegisterEnum({{"all", ~uint64_t{0}, 0}}, 8);
  EXPECT_EQ(
      Shown(Register({{.type = wide, .name = "e"}}), std::string(8, '\xff')),
      ", e=all");
  EXPECT_EQ(
      Shown(Register({{.type = wide, .name = "e"}}), std::string(7, '\xff')),
      "");
  // An enum is no payload of its own.
  EXPECT_EQ(Shown(wide, std::string(8, '\xff')), ", payload=8 bytes");
  EXPECT_EQ(Shown(Register({{.type = kTypeInt8, .name = "x"},
                            {.type = wide, .name = "e", .offset = 1}}),
                  std::string(9, '\xff')),
            ", x=-1, e=all");
}

TEST_F(NvtxPayloadTest, MoreArgumentsThanFitAreCounted) {
  const std::vector<SchemaEntry> entries(
      33, SchemaEntry{.type = kTypeInt8, .name = "x"});
  stream::TestCapture capture(NewNvtxBackend());
  const std::string bytes(33, '\1');
  Mark(Register(entries), bytes.data(), bytes.size());
  const Texts texts = capture.Stop();
  ASSERT_EQ(texts.size(), 2u);
  std::string all = "mark (no name)";
  for (int i = 0; i < 32; ++i) all += ", x=1";
  EXPECT_EQ(texts[0], all);
  EXPECT_EQ(texts[1], "lost arguments_truncated 1");
}

}  // namespace
}  // namespace kymo::nvtx
