// Tests the rules that AArch64's frame information gives.
#include "profiler/unwind/frame_aarch64.h"

#include <gtest/gtest.h>

#include <vector>

#include "profiler/unwind/frame_program.h"

namespace kymo::unwind {
namespace {

using Bytes = std::vector<uint8_t>;

// Every compiler's first instruction: cfa = sp.
const Bytes kCommon = {0x0c, 31, 0};
constexpr uint64_t kBegin = 0x1000;
constexpr UnwindRule kUnsupported = {.kind = RuleKind::kUnsupported};

ByteReader Read(const Bytes& bytes) {
  return {bytes.data(), bytes.data() + bytes.size()};
}

// The rule behind `steps` instructions of machine code.
UnwindRule RuleAt(uint64_t steps, const Bytes& instructions) {
  FrameProgram program({.code_align = 4, .data_align = -8}, kBegin + steps * 4);
  program.RunCommon(Read(kCommon));
  program.Run(Read(instructions), kBegin);
  return program.Rule();
}

TEST(FrameAarch64Test, FollowsAFunctionWithAFrameRecord) {
  // stp x29, x30, [sp, -32]!; mov x29, sp; ...; ldp x29, x30, [sp], 32; ret
  const Bytes code = {0x41, 0x0e, 32,   0x9d, 4,    0x9e,
                      3,    0x44, 0xde, 0xdd, 0x0e, 0};
  const UnwindRule in_register = {.kind = RuleKind::kSpOffset};
  EXPECT_EQ(RuleAt(0, code), in_register);
  EXPECT_EQ(RuleAt(1, code), (UnwindRule{.kind = RuleKind::kSpOffset,
                                         .bp = SavedBp::kAtCfa,
                                         .bp_offset = -4,
                                         .return_offset = -3,
                                         .cfa_offset = 2}));
  EXPECT_EQ(RuleAt(5, code), in_register);
  // With alloca, the frame is found by x29.
  EXPECT_EQ(RuleAt(1, {0x41, 0x0c, 29, 32, 0x9d, 4, 0x9e, 3}),
            (UnwindRule{.kind = RuleKind::kBpOffset,
                        .bp = SavedBp::kAtCfa,
                        .bp_offset = -4,
                        .return_offset = -3,
                        .cfa_offset = 2}));
  // Without a frame pointer only x30 is saved.
  EXPECT_EQ(
      RuleAt(1, {0x41, 0x0e, 16, 0x9e, 2}),
      (UnwindRule{
          .kind = RuleKind::kSpOffset, .return_offset = -2, .cfa_offset = 1}));
}

TEST(FrameAarch64Test, SignedReturnAddressesChangeNoRule) {
  EXPECT_EQ(RuleAt(1, {0x2d, 0x41, 0x0e, 16, 0x9e, 2}),
            RuleAt(1, {0x41, 0x0e, 16, 0x9e, 2}));
  EXPECT_EQ(WithoutSignature(0x0000'ffff'1234'5678), 0x0000'ffff'1234'5678u);
}

TEST(FrameAarch64Test, WhatNoRuleCanSayIsUnsupported) {
  EXPECT_EQ(RuleAt(0, {0x07, 30}).kind, RuleKind::kOutermost);
  EXPECT_EQ(RuleAt(0, {0x09, 30, 17}), kUnsupported);  // in x17
  EXPECT_EQ(RuleAt(0, {0x9e, 0}), kUnsupported);       // at the cfa
  EXPECT_EQ(RuleAt(0, {0x0e, 24}), kUnsupported);      // not aligned
  EXPECT_EQ(RuleAt(0, {0x0c, 28, 16}), kUnsupported);  // by another register
  EXPECT_EQ(RuleAt(0, {0x0e, 0xf0, 0xff, 0x1f}).cfa_offset, INT16_MAX);
  EXPECT_EQ(RuleAt(0, {0x0e, 0x80, 0x80, 0x20}), kUnsupported);  // 512 KiB
}

// A stack of words; an address in it is At(word).
class AFrame : public ::testing::Test {
 protected:
  uint64_t At(size_t word) { return reinterpret_cast<uint64_t>(&words_[word]); }
  bool Follow(UnwindRule rule) {
    ReadableStack stack(frame_.sp);
    return FollowRule(rule, frame_, stack);
  }

  alignas(16) uint64_t words_[32] = {};
  Frame frame_ = {.pc = 1, .sp = At(0), .bp = At(4), .lr = 0x5000};
};

TEST_F(AFrame, WithoutAFrameHasItsCallerInX30Once) {
  EXPECT_TRUE(Follow({.kind = RuleKind::kSpOffset}));
  EXPECT_EQ(frame_.pc, 0x4fffu);
  EXPECT_EQ(frame_.sp, At(0));
  EXPECT_EQ(frame_.bp, At(4));
  // No caller has its own caller there.
  EXPECT_FALSE(Follow({.kind = RuleKind::kSpOffset}));
}

TEST_F(AFrame, ThatWasFoundByARecordIsLeftByItsOwn) {
  words_[4] = At(8);  // the record of a function without tables
  words_[5] = 0x6000;
  words_[8] = At(20);  // its caller's, and a caller of that
  words_[9] = 0x7000;
  ReadableStack stack(frame_.sp);
  EXPECT_TRUE(FollowFramePointer(frame_, stack));
  EXPECT_EQ(frame_.pc, 0x5fffu);
  EXPECT_TRUE(frame_.is_sp_least);
  EXPECT_TRUE(Follow({.kind = RuleKind::kSpOffset,
                      .bp = SavedBp::kAtCfa,
                      .bp_offset = -4,
                      .return_offset = -3,
                      .cfa_offset = 2}));
  EXPECT_EQ(frame_.pc, 0x6fffu);
  EXPECT_EQ(frame_.sp, At(12));  // from here on it is known again
  EXPECT_EQ(frame_.bp, At(20));
  EXPECT_FALSE(frame_.is_sp_least);
}

TEST(FrameAarch64Test, ASignalIsLeftWithAllRegistersOfTheFrame) {
  alignas(16) struct {  // the kernel's struct rt_sigframe
    siginfo_t info;
    ucontext_t context;
  } signal = {};
  mcontext_t& saved = signal.context.uc_mcontext;
  const auto sp = reinterpret_cast<uint64_t>(&signal);
  saved.pc = 0x5000;
  saved.sp = sp;
  saved.regs[29] = 0x6000;
  saved.regs[30] = 0x7000;
  ReadableStack stack(sp);
  Frame frame = {.pc = 1, .sp = sp, .is_sp_least = true};
  EXPECT_FALSE(LeaveSignal(frame, stack));
  frame.is_sp_least = false;
  ASSERT_TRUE(LeaveSignal(frame, stack));
  EXPECT_EQ(frame.pc, 0x5000u);  // not a return address
  EXPECT_EQ(frame.sp, sp);
  EXPECT_EQ(frame.bp, 0x6000u);
  EXPECT_EQ(frame.lr, 0x7000u);
}

}  // namespace
}  // namespace kymo::unwind
