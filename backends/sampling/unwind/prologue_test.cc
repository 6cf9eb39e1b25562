#include "backends/sampling/unwind/prologue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <utility>
#include <vector>

#include "backends/sampling/unwind/registers.h"

namespace kymo::sampling {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr size_t kAll = kMostPrologueBytes;

std::vector<std::byte> Code(std::initializer_list<int> bytes) {
  std::vector<std::byte> code;
  for (const int byte : bytes) code.push_back(static_cast<std::byte>(byte));
  return code;
}

std::vector<std::pair<int, int>> SavedOf(const Prologue& prologue) {
  std::vector<std::pair<int, int>> saved;
  for (const auto& [number, offset] : prologue.saved) {
    saved.emplace_back(number, offset);
  }
  return saved;
}

// push %rbp; push %r15; push %rbx; sub $0x18,%rsp; test %edi,%edi; js
const std::vector<std::byte> kPushes =
    Code({0x55, 0x41, 0x57, 0x53, 0x48, 0x83, 0xec, 0x18, 0x85, 0xff, 0x78});

TEST(PrologueTest, PushesAndRoomAreTaken) {
  const Prologue prologue = ReadPrologue(kPushes, kAll);
  EXPECT_TRUE(prologue.is_usable);
  EXPECT_TRUE(prologue.is_over);
  EXPECT_EQ(prologue.size_bytes, 10u);
  EXPECT_EQ(prologue.taken_bytes, 48u);
  EXPECT_EQ(prologue.taken_at_frame_pointer, 0u);
  EXPECT_THAT(SavedOf(prologue),
              ElementsAre(Pair(kRbp, -16), Pair(15, -24), Pair(3, -32)));
}

TEST(PrologueTest, OnlyWhatWasExecutedCounts) {
  const Prologue none = ReadPrologue(kPushes, 0);
  EXPECT_EQ(none.taken_bytes, 0u);
  EXPECT_FALSE(none.is_over);
  const Prologue two = ReadPrologue(kPushes, 3);
  EXPECT_EQ(two.taken_bytes, 16u);
  EXPECT_EQ(two.saved.size(), 2u);
  EXPECT_FALSE(two.is_over);
  // The thread is before an instruction of which a part would be within.
  EXPECT_EQ(ReadPrologue(kPushes, 7).taken_bytes, 24u);
  EXPECT_EQ(ReadPrologue(kPushes, 8).taken_bytes, 48u);
}

// As MKL's kernels begin: endbr64; sub $0x80,%rsp; mov %rbx,(%rsp);
// mov %r12,0x10(%rsp); mov 0x88(%rsp),%r10
TEST(PrologueTest, RegistersMayBeStoredInTheRoom) {
  const Prologue prologue = ReadPrologue(
      Code({0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x81, 0xec, 0x80, 0,    0,
            0,    0x48, 0x89, 0x1c, 0x24, 0x4c, 0x89, 0x64, 0x24, 0x10,
            0x4c, 0x8b, 0x94, 0x24, 0x88, 0,    0,    0}),
      kAll);
  EXPECT_TRUE(prologue.is_over);
  EXPECT_EQ(prologue.size_bytes, 20u);
  EXPECT_EQ(prologue.taken_bytes, 128u);
  EXPECT_THAT(SavedOf(prologue), ElementsAre(Pair(3, -136), Pair(12, -120)));
}

// push %rbp; mov %rsp,%rbp; push %rbx; and $-64,%rsp; sub $0x40,%rsp
TEST(PrologueTest, AFramePointerKnowsWhereTheFrameBegins) {
  const auto code = Code({0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xe4, 0xc0,
                          0x48, 0x83, 0xec, 0x40, 0xc5});
  const Prologue prologue = ReadPrologue(code, kAll);
  EXPECT_TRUE(prologue.is_usable);
  EXPECT_EQ(prologue.taken_at_frame_pointer, 8u);
  EXPECT_THAT(SavedOf(prologue), ElementsAre(Pair(kRbp, -16), Pair(3, -24)));
}

TEST(PrologueTest, AnUnknownStackPointerIsOfNoUse) {
  // and $-64,%rsp without a frame pointer
  EXPECT_FALSE(ReadPrologue(Code({0x48, 0x83, 0xe4, 0xc0}), kAll).is_usable);
  // mov %rax,%rsp
  EXPECT_FALSE(ReadPrologue(Code({0x48, 0x89, 0xc4}), kAll).is_usable);
  // add $8,%rsp gives more than was taken.
  EXPECT_FALSE(ReadPrologue(Code({0x48, 0x83, 0xc4, 8}), kAll).is_usable);
  // sub $-1,%rsp
  EXPECT_FALSE(ReadPrologue(Code({0x48, 0x83, 0xec, 0xff}), kAll).is_usable);
}

TEST(PrologueTest, OtherCodeTakesNothing) {
  const Prologue prologue =
      ReadPrologue(Code({0x48, 0x8b, 0x3f, 0x55}), kAll);  // mov (%rdi),%rdi
  EXPECT_TRUE(prologue.is_over);
  EXPECT_EQ(prologue.taken_bytes, 0u);
  EXPECT_THAT(prologue.saved, IsEmpty());
  EXPECT_TRUE(ReadPrologue({}, kAll).is_over);
}

TEST(PrologueTest, ACodeThatIsCutIsReadToItsEnd) {
  const auto code = Code({0x55, 0x48, 0x81, 0xec, 0x80});
  for (size_t size = 0; size <= code.size(); ++size) {
    ReadPrologue(std::span(code).first(size), kAll);  // reads no more
  }
}

std::optional<CallBefore> Before(std::initializer_list<int> call) {
  std::array<std::byte, kMostCallBytes> bytes{};
  size_t at = kMostCallBytes - call.size();
  for (const int byte : call) bytes[at++] = static_cast<std::byte>(byte);
  return FindCallBefore(bytes);
}

TEST(CallBeforeTest, KnowsTheKindsOfCalls) {
  EXPECT_EQ(Before({0xe8, 0xfe, 0xff, 0xff, 0xff})->distance, -2);
  EXPECT_TRUE(Before({0xff, 0xd0}));                    // *%rax
  EXPECT_TRUE(Before({0x41, 0xff, 0x55, 0x10}));        // *16(%r13)
  EXPECT_TRUE(Before({0xff, 0x15, 1, 2, 3, 4}));        // *n(%rip)
  EXPECT_TRUE(Before({0xff, 0x14, 0xc8}));              // *(%rax,%rcx,8)
  EXPECT_TRUE(Before({0xff, 0x94, 0xc8, 1, 2, 3, 4}));  // and a number
  EXPECT_FALSE(Before({0xff, 0xd0})->distance.has_value());
}

TEST(CallBeforeTest, OtherInstructionsAreNoCalls) {
  EXPECT_FALSE(Before({}));
  EXPECT_FALSE(Before({0xe9, 1, 2, 3, 4}));  // jmp
  EXPECT_FALSE(Before({0xff, 0xe0}));        // jmp *%rax
  EXPECT_FALSE(Before({0xff, 0x10, 0x90}));  // call *(%rax), then another
}

}  // namespace
}  // namespace kymo::sampling
