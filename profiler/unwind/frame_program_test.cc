#include "profiler/unwind/frame_program.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace kymo::unwind {
namespace {

using Bytes = std::vector<uint8_t>;

ByteReader Read(const Bytes& bytes) {
  return {bytes.data(), bytes.data() + bytes.size()};
}

// Every compiler's first instructions: cfa = rsp + 8, return address at cfa -
// 8.
const Bytes kCommon = {0x0c, 7, 8, 0x90, 1};
constexpr uint64_t kBegin = 0x1000;

UnwindRule RuleAt(uint64_t offset, const Bytes& instructions) {
  FrameProgram program({.code_align = 1, .data_align = -8}, kBegin + offset);
  program.RunCommon(Read(kCommon));
  program.Run(Read(instructions), kBegin);
  return program.Rule();
}

constexpr UnwindRule kUnsupported = {.kind = RuleKind::kUnsupported};

TEST(FrameProgramTest, FollowsAFunctionWithAFramePointer) {
  // push %rbp; mov %rsp,%rbp; ... ; pop %rbp; ret
  const Bytes code = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d,
                      6,    0x02, 90, 0x0c, 7, 8};
  EXPECT_EQ(RuleAt(0, code),
            (UnwindRule{.kind = RuleKind::kSpOffset, .cfa_offset = 8}));
  EXPECT_EQ(RuleAt(1, code), (UnwindRule{.kind = RuleKind::kSpOffset,
                                         .bp = SavedBp::kAtCfa,
                                         .bp_offset = -16,
                                         .cfa_offset = 16}));
  const UnwindRule body = {.kind = RuleKind::kBpOffset,
                           .bp = SavedBp::kAtCfa,
                           .bp_offset = -16,
                           .cfa_offset = 16};
  EXPECT_EQ(RuleAt(4, code), body);
  EXPECT_EQ(RuleAt(4 + 89, code), body);
  EXPECT_EQ(RuleAt(4 + 90, code).kind, RuleKind::kSpOffset);
  EXPECT_EQ(RuleAt(4 + 90, code).cfa_offset, 8);
}

TEST(FrameProgramTest, RemembersAndRestores) {
  // Behind an early return, the frame is the same as before the return.
  const Bytes code = {0x41, 0x0e, 16,   0x86, 2,    0x44, 0x0a, 0x0e,
                      8,    0xc6, 0x41, 0x0b, 0x44, 0x0e, 24};
  EXPECT_EQ(RuleAt(5, code),
            (UnwindRule{.kind = RuleKind::kSpOffset, .cfa_offset = 8}));
  EXPECT_EQ(RuleAt(6, code), (UnwindRule{.kind = RuleKind::kSpOffset,
                                         .bp = SavedBp::kAtCfa,
                                         .bp_offset = -16,
                                         .cfa_offset = 16}));
  EXPECT_EQ(RuleAt(10, code).cfa_offset, 24);
}

TEST(FrameProgramTest, KnowsTheFormsOfLocation) {
  Bytes code = {0x02, 200,  0x0e, 16,   0x03, 0xe8, 3,    0x0e,
                24,   0x04, 0x10, 0x27, 0,    0,    0x0e, 32};
  EXPECT_EQ(RuleAt(199, code).cfa_offset, 8);
  EXPECT_EQ(RuleAt(200, code).cfa_offset, 16);
  EXPECT_EQ(RuleAt(1200, code).cfa_offset, 24);
  EXPECT_EQ(RuleAt(11199, code).cfa_offset, 24);
  EXPECT_EQ(RuleAt(11200, code).cfa_offset, 32);
}

TEST(FrameProgramTest, KnowsRealignedFrames) {
  // DW_CFA_expression rbp = at rbp + 0; cfa = the word at rbp - 8.
  const Bytes code = {0x10, 6, 2, 0x76, 0, 0x0f, 3, 0x76, 0x78, 0x06};
  EXPECT_EQ(RuleAt(0, code), (UnwindRule{.kind = RuleKind::kBpMemory,
                                         .bp = SavedBp::kAtBp,
                                         .bp_offset = 0,
                                         .cfa_offset = -8}));
}

TEST(FrameProgramTest, KnowsLinkageStubs) {
  const Bytes code = {0x0f, 11,   0x77, 8,    0x80, 0,   0x3f,
                      0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
  EXPECT_EQ(RuleAt(0, code).cfa_offset, 8);
  EXPECT_EQ(RuleAt(10, code).cfa_offset, 8);
  EXPECT_EQ(RuleAt(11, code).cfa_offset, 16);
  EXPECT_EQ(RuleAt(16, code).cfa_offset, 8);
}

TEST(FrameProgramTest, KnowsTheFormsOfASavedRegister) {
  const auto saved_at = [](int16_t offset) {
    return UnwindRule{.kind = RuleKind::kSpOffset,
                      .bp = SavedBp::kAtCfa,
                      .bp_offset = offset,
                      .cfa_offset = 8};
  };
  EXPECT_EQ(RuleAt(0, {0x86, 2}), saved_at(-16));
  EXPECT_EQ(RuleAt(0, {0x05, 6, 2}), saved_at(-16));
  EXPECT_EQ(RuleAt(0, {0x11, 6, 0x7e}), saved_at(16));
  EXPECT_EQ(RuleAt(0, {0x2f, 6, 2}), saved_at(16));
  // Restored, or as it was.
  const UnwindRule same = {.kind = RuleKind::kSpOffset, .cfa_offset = 8};
  EXPECT_EQ(RuleAt(0, {0x86, 2, 0xc6}), same);
  EXPECT_EQ(RuleAt(0, {0x86, 2, 0x06, 6}), same);
  EXPECT_EQ(RuleAt(0, {0x86, 2, 0x08, 6}), same);
  EXPECT_EQ(RuleAt(0, {0x90, 2, 0xd0}), same);
  EXPECT_EQ(RuleAt(0, {0x09, 7, 2, 0x06, 7}), same);
  EXPECT_EQ(RuleAt(0, {0x86, 2, 0x07, 6}), kUnsupported);
  // A word of 16 bits holds it.
  EXPECT_EQ(RuleAt(0, {0x86, 0x80, 0x20}), saved_at(-32768));
  EXPECT_EQ(RuleAt(0, {0x86, 0x81, 0x20}), kUnsupported);
}

TEST(FrameProgramTest, KnowsTheFormsOfTheCfa) {
  const auto cfa_at = [](RuleKind kind, int32_t offset) {
    return UnwindRule{.kind = kind, .cfa_offset = offset};
  };
  EXPECT_EQ(RuleAt(0, {0x0c, 6, 24}), cfa_at(RuleKind::kBpOffset, 24));
  EXPECT_EQ(RuleAt(0, {0x0d, 6}), cfa_at(RuleKind::kBpOffset, 8));
  EXPECT_EQ(RuleAt(0, {0x0e, 24}), cfa_at(RuleKind::kSpOffset, 24));
  EXPECT_EQ(RuleAt(0, {0x12, 6, 0x7d}), cfa_at(RuleKind::kBpOffset, 24));
  EXPECT_EQ(RuleAt(0, {0x13, 0x7d}), cfa_at(RuleKind::kSpOffset, 24));
  EXPECT_EQ(RuleAt(0, {0x0e, 0xff, 0xff, 0xff, 0xff, 0x07}),
            cfa_at(RuleKind::kSpOffset, 0x7fffffff));
  EXPECT_EQ(RuleAt(0, {0x0e, 0x80, 0x80, 0x80, 0x80, 0x08}), kUnsupported);
}

// Each is followed by an instruction that must be found.
TEST(FrameProgramTest, EveryInstructionHasItsLength) {
  const std::vector<Bytes> before = {
      {0x00},
      {0x2e, 0x90, 1},
      {0x83, 2},
      {0xc3},
      {0x05, 3, 2},
      {0x06, 3},
      {0x07, 3},
      {0x08, 3},
      {0x09, 3, 2},
      {0x10, 3, 2, 0x76, 0},
      {0x11, 3, 0x7e},
      {0x14, 3, 2},
      {0x15, 3, 0x7e},
      {0x16, 3, 2, 0x76, 8},
      {0x2f, 3, 2},
      {0x0a, 0x0b},
      {0x02, 0},
      {0x03, 0, 0},
      {0x04, 0, 0, 0, 0},
      {0x01, 0, 0x10, 0, 0, 0, 0, 0, 0},
      {0x0f, 2, 0x76, 0, 0x0c, 7, 8},
  };
  for (const Bytes& instruction : before) {
    Bytes code = instruction;
    code.insert(code.end(), {0x0e, 24});
    EXPECT_EQ(RuleAt(0, code),
              (UnwindRule{.kind = RuleKind::kSpOffset, .cfa_offset = 24}))
        << int{instruction[0]};
  }
}

TEST(FrameProgramTest, LocationsCountInTheAlignmentOfTheCode) {
  const auto offset_at = [](uint64_t offset, Bytes code) {
    code.insert(code.end(), {0x0e, 16});
    FrameProgram program({.code_align = 4, .data_align = -8}, kBegin + offset);
    program.RunCommon(Read(kCommon));
    program.Run(Read(code), kBegin);
    return program.Rule().cfa_offset;
  };
  for (const Bytes& advance :
       {Bytes{0x43}, Bytes{0x02, 3}, Bytes{0x03, 3, 0}, Bytes{0x04, 3, 0, 0, 0},
        Bytes{0x01, 12, 0x10, 0, 0, 0, 0, 0, 0}}) {
    EXPECT_EQ(offset_at(11, advance), 8) << int{advance[0]};
    EXPECT_EQ(offset_at(12, advance), 16) << int{advance[0]};
  }
}

TEST(FrameProgramTest, EightRowsAreRememberedAtOnce) {
  Bytes code;
  for (uint8_t row = 0; row < 8; ++row) {
    code.insert(code.end(), {0x0a, 0x0e, static_cast<uint8_t>(16 + row)});
  }
  EXPECT_EQ(RuleAt(0, code).cfa_offset, 23);
  for (uint8_t row = 8; row-- > 0;) {
    code.push_back(0x0b);
    EXPECT_EQ(RuleAt(0, code).cfa_offset, row == 0 ? 8 : 15 + row);
  }
  code.push_back(0x0b);
  EXPECT_EQ(RuleAt(0, code), kUnsupported);
}

TEST(FrameProgramTest, AnUndefinedReturnAddressHasNoCaller) {
  EXPECT_EQ(RuleAt(0, {0x07, 16}).kind, RuleKind::kOutermost);
}

TEST(FrameProgramTest, WhatNoRuleExpressesIsSaid) {
  EXPECT_EQ(RuleAt(0, {0x0d, 10}), kUnsupported);          // cfa by r10
  EXPECT_EQ(RuleAt(0, {0x0f, 2, 0x77, 8}), kUnsupported);  // by an expression
  EXPECT_EQ(RuleAt(0, {0x09, 16, 2}), kUnsupported);  // return in a register
  EXPECT_EQ(RuleAt(0, {0x90, 2}), kUnsupported);      // somewhere else
  EXPECT_EQ(RuleAt(0, {0x14, 7, 2}), kUnsupported);   // rsp not the cfa
  EXPECT_EQ(RuleAt(0, {0x16, 6, 2, 0x76, 8}), kUnsupported);
  EXPECT_EQ(RuleAt(0, {0x15, 6, 2}), kUnsupported);
  // Expressions that are nearly those of realigned frames.
  EXPECT_EQ(RuleAt(0, {0x10, 6, 3, 0x76, 0, 0x06}), kUnsupported);
  EXPECT_EQ(RuleAt(0, {0x10, 6, 2, 0x75, 0}), kUnsupported);
  EXPECT_EQ(RuleAt(0, {0x10, 6, 1, 0x76}), kUnsupported);
  EXPECT_EQ(RuleAt(0, {0x0f, 3, 0x75, 0x78, 0x06}), kUnsupported);
  EXPECT_EQ(RuleAt(0, {0x0f, 2, 0x76, 0x78}), kUnsupported);
  EXPECT_EQ(RuleAt(0, {0x0f, 3, 0x76, 0x78, 0x07}), kUnsupported);
  EXPECT_EQ(RuleAt(0, {0x0f, 4, 0x76, 0x78, 0x06, 0x06}), kUnsupported);
  EXPECT_EQ(RuleAt(0, {0x0f, 0}), kUnsupported);
  // And nearly those of linkage stubs.
  const Bytes stub = {0x77, 8,    0x80, 0,    0x3f, 0x1a,
                      0x3b, 0x2a, 0x33, 0x24, 0x22};
  for (size_t i = 0; i < stub.size(); ++i) {
    Bytes code = {0x0f, 11};
    code.insert(code.end(), stub.begin(), stub.end());
    code[2 + i] ^= 1;
    EXPECT_EQ(RuleAt(0, code).kind == RuleKind::kSpOffset, i == 6) << i;
  }
  EXPECT_EQ(RuleAt(0, {0x86, 0x80, 0x80, 0x04}), kUnsupported);  // too far
  // Other registers do not matter.
  EXPECT_EQ(RuleAt(0, {0x83, 3, 0x09, 12, 2, 0x10, 13, 2, 0x76, 0}).kind,
            RuleKind::kSpOffset);
}

TEST(FrameProgramTest, NonsenseIsUnsupported) {
  EXPECT_EQ(RuleAt(0, {0x0b}), kUnsupported);  // nothing remembered
  EXPECT_EQ(RuleAt(0, Bytes(9, 0x0a)), kUnsupported);
  EXPECT_EQ(RuleAt(0, {0x3f}), kUnsupported);
  EXPECT_EQ(RuleAt(0, {0x0c, 7}), kUnsupported);
  EXPECT_EQ(RuleAt(0, {0x10, 6, 100, 0x76}), kUnsupported);
  EXPECT_EQ(RuleAt(0, {0x0e, 0x80, 0x80}), kUnsupported);
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned second = 0; second < 256; ++second) {
      RuleAt(5, {static_cast<uint8_t>(first), static_cast<uint8_t>(second), 7,
                 0x83, 1, 9, 6});
    }
  }
}

TEST(ByteReaderTest, ReadsNumbersOfAnyLength) {
  const Bytes bytes = {0xe5, 0x8e, 0x26, 0x7f, 0x80, 0x7f};
  ByteReader reader = Read(bytes);
  EXPECT_EQ(reader.Uleb(), 624485u);
  EXPECT_EQ(reader.Sleb(), -1);
  EXPECT_EQ(reader.Sleb(), -128);
  EXPECT_TRUE(reader.ok());
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(reader.Uleb(), 0u);
  EXPECT_FALSE(reader.ok());
}

TEST(ByteReaderTest, NumbersOfSixtyFourBits) {
  // 2^63 + 1 and -2^63, and a tail that has no more room.
  const Bytes bytes = {0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                       0x01, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                       0x80, 0x7f, 0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                       0x80, 0x80, 0x80, 0x80, 0x01, 0x3f, 0xc0, 0x00, 0x40};
  ByteReader reader = Read(bytes);
  EXPECT_EQ(reader.Uleb(), (uint64_t{1} << 63) + 1);
  EXPECT_EQ(reader.Sleb(), INT64_MIN);
  EXPECT_EQ(reader.Uleb(), 2u);
  EXPECT_EQ(reader.Sleb(), 63);
  EXPECT_EQ(reader.Sleb(), 64);
  EXPECT_EQ(reader.left(), 1u);
  EXPECT_EQ(reader.Sleb(), -64);
  EXPECT_TRUE(reader.ok());
}

TEST(ByteReaderTest, ReadsNumbersInAllFormats) {
  const Bytes bytes = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  const struct {
    uint8_t format;
    uint64_t value;
    size_t size;
  } cases[] = {{0x00, uint64_t{0} - 2, 8}, {0x04, uint64_t{0} - 2, 8},
               {0x0c, uint64_t{0} - 2, 8}, {0x02, 0xfffe, 2},
               {0x03, 0xfffffffe, 4},      {0x0a, uint64_t{0} - 2, 2},
               {0x0b, uint64_t{0} - 2, 4}};
  for (const auto& one : cases) {
    ByteReader reader = Read(bytes);
    EXPECT_EQ(reader.Number(one.format), one.value) << int{one.format};
    EXPECT_EQ(reader.left(), bytes.size() - one.size) << int{one.format};
    EXPECT_TRUE(reader.ok());
  }
  const Bytes leb = {0xfe, 0x7f, 0};
  ByteReader reader = Read(leb);
  EXPECT_EQ(reader.Number(0x01), 0x3ffeu);
  EXPECT_EQ(reader.left(), 1u);
  reader = Read(leb);
  EXPECT_EQ(reader.Number(0x09), uint64_t{0} - 2);
  EXPECT_EQ(reader.left(), 1u);
  reader = Read(leb);
  EXPECT_EQ(reader.Number(0x05), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_TRUE(reader.at_end());
}

TEST(ByteReaderTest, NothingIsReadBehindTheEnd) {
  const Bytes bytes = {1, 2, 3, 4};
  ByteReader reader = Read(bytes);
  EXPECT_EQ(reader.Fixed<uint32_t>(), 0x04030201u);
  EXPECT_TRUE(reader.ok());
  reader = Read(bytes);
  reader.Skip(1);
  EXPECT_EQ(reader.at(), bytes.data() + 1);
  EXPECT_EQ(reader.Fixed<uint32_t>(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.left(), 0u);
  reader = Read(bytes);
  reader.Skip(4);
  EXPECT_TRUE(reader.ok());
  EXPECT_TRUE(reader.at_end());
  reader.Skip(0);
  EXPECT_TRUE(reader.ok());
  reader = Read(bytes);
  reader.Skip(5);
  EXPECT_FALSE(reader.ok());
}

TEST(ByteReaderTest, ReadsPointersInAllForms) {
  const Bytes bytes = {0xf0, 0xff, 0xff, 0xff, 0x10, 0, 0, 0, 1, 0};
  ByteReader reader = Read(bytes);
  const auto place = reinterpret_cast<uint64_t>(bytes.data());
  EXPECT_EQ(reader.Pointer(0x1b, 0), place - 16);
  EXPECT_EQ(reader.Pointer(0x3b, 0x1000), 0x1010u);
  EXPECT_EQ(reader.Pointer(0x02, 0), 1u);
  EXPECT_TRUE(reader.ok());
  reader.Pointer(0x2b, 0);  // relative to the text, which nobody writes
  EXPECT_FALSE(reader.ok());
  // Indirect: the address of the pointer.
  ByteReader indirect = Read(bytes);
  EXPECT_EQ(indirect.Pointer(0x9b, 0), place - 16);
}

}  // namespace
}  // namespace kymo::unwind
