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
}

}  // namespace
}  // namespace kymo::unwind
