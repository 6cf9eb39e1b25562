#include "profiler/unwind/rule_table.h"

#include <gtest/gtest.h>
#include <stdio.h>

#include <thread>
#include <vector>

#include "profiler/unwind/known_frames.h"

namespace kymo::unwind {
namespace {

// At the first instruction of a function.
#if defined(__aarch64__)
constexpr UnwindRule kAtEntry = {.kind = RuleKind::kSpOffset};
#else
constexpr UnwindRule kAtEntry = {.kind = RuleKind::kSpOffset, .cfa_offset = 8};
#endif

TEST(RuleTableTest, AnswersWhatWasComputed) {
  const auto pc = reinterpret_cast<uint64_t>(&puts);
  LoadedCode code;
  ASSERT_TRUE(FindLoadedCode(pc, &code));
  const UnwindRule rule = ComputeRule(pc, &code);
  EXPECT_EQ(rule, kAtEntry);
  EXPECT_EQ(FindRule(pc, code.identity), rule);
}

TEST(RuleTableTest, AnotherFileAtTheAddressIsNotKnown) {
  const auto pc = reinterpret_cast<uint64_t>(&printf);
  LoadedCode code;
  ASSERT_TRUE(FindLoadedCode(pc, &code));
  ComputeRule(pc, &code);
  EXPECT_EQ(FindRule(pc, code.identity + 1).kind, RuleKind::kMissing);
  EXPECT_EQ(FindRule(pc + 1, code.identity).kind, RuleKind::kMissing);
}

TEST(RuleTableTest, WithoutATableACallTellsCodeFromData) {
#if defined(__aarch64__)
  // nop; bl .+8; blr x3; nop; mov x8, #139; svc #0
  alignas(8) const uint32_t code[] = {0xd503201f, 0x94000002, 0xd63f0060,
                                      0xd503201f, 0xd2801168, 0xd4000001};
  const auto at = reinterpret_cast<uint64_t>(code);
  // What it looks up is a byte before an instruction.
  EXPECT_EQ(ComputeRule(at + 7, nullptr).kind, RuleKind::kFramePointer);
  EXPECT_EQ(ComputeRule(at + 11, nullptr).kind, RuleKind::kFramePointer);
  EXPECT_EQ(ComputeRule(at + 13, nullptr).kind, RuleKind::kNotCode);
  EXPECT_EQ(ComputeRule(at + 15, nullptr).kind, RuleKind::kSignalFrame);
#else
  // call *%rax; call *0x10(%rbx); call rel32; and none.
  const uint8_t code[] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff,
                          0xd0, 0xff, 0x53, 0x10, 0xe8, 1,    2,    3,
                          4,    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
  const auto at = reinterpret_cast<uint64_t>(code);
  EXPECT_EQ(ComputeRule(at + 8, nullptr).kind, RuleKind::kFramePointer);
  EXPECT_EQ(ComputeRule(at + 11, nullptr).kind, RuleKind::kFramePointer);
  EXPECT_EQ(ComputeRule(at + 16, nullptr).kind, RuleKind::kFramePointer);
  EXPECT_EQ(ComputeRule(at + 23, nullptr).kind, RuleKind::kNotCode);
#endif
  EXPECT_EQ(ComputeRule(3, nullptr).kind, RuleKind::kNotCode);
  EXPECT_EQ(ComputeRule(uint64_t{1} << 50, nullptr).kind, RuleKind::kNotCode);
}

TEST(KnownFramesTest, AFrameIsKnownByItsPlaceCodeAndFile) {
  constexpr uint64_t kSp = uint64_t{1} << 40;
  KnownFrames& known = KnownFrames::OfThread();
  UnwindRule rule;
  known.Enter(kSp, 5, 7, kAtEntry);
  ASSERT_TRUE(known.Find(kSp, 5, 7, &rule));
  EXPECT_EQ(rule, kAtEntry);
  EXPECT_FALSE(known.Find(kSp + 16, 5, 7, &rule));
  EXPECT_FALSE(known.Find(kSp, 6, 7, &rule));
  EXPECT_FALSE(known.Find(kSp, 5, 8, &rule));
  known.Enter(kSp, 6, 7, {.kind = RuleKind::kOutermost});
  EXPECT_FALSE(known.Find(kSp, 5, 7, &rule));
}

TEST(KnownFramesTest, ThreadsHaveTheirOwn) {
  KnownFrames* other = nullptr;
  std::thread([&] { other = &KnownFrames::OfThread(); }).join();
  EXPECT_NE(other, &KnownFrames::OfThread());
  EXPECT_EQ(&KnownFrames::OfThread(), &KnownFrames::OfThread());
}

// Uses more addresses than there are slots, on many threads. Whatever is found
// must be right, in whatever order the writers wrote.
TEST(RuleTableTest, WritersAndReadersNeedNoOrder) {
  constexpr uint64_t kAddresses = (kSlotsPerLine << kLineBits) * 2;
  constexpr uint64_t kNowhere = uint64_t{1} << 60;
  const auto pc = reinterpret_cast<uint64_t>(&puts);
  LoadedCode code;
  ASSERT_TRUE(FindLoadedCode(pc, &code));
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      for (uint64_t i = 0; i < kAddresses; ++i) {
        const uint64_t other = kNowhere + (i * 7919 + seed) % kAddresses;
        const UnwindRule nowhere = FindRule(other, 0);
        if (nowhere.kind == RuleKind::kMissing) {
          ComputeRule(other, nullptr);
        } else {
          ASSERT_EQ(nowhere.kind, RuleKind::kNotCode);
        }
        if (i % 16 != 0) continue;
        const UnwindRule rule = FindRule(pc, code.identity);
        if (rule.kind == RuleKind::kMissing) {
          ComputeRule(pc, &code);
        } else {
          ASSERT_EQ(rule, kAtEntry);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace kymo::unwind
