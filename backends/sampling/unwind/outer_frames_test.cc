#include "backends/sampling/unwind/outer_frames.h"

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <vector>

#include "backends/sampling/unwind/registers.h"
#include "profiler/symbolize/elf_module.h"

namespace kymo::sampling {
namespace {

using symbolize::ModuleTable;

constexpr int64_t kThread = 7;
constexpr int64_t kImage = 1;

// A frame at a stack pointer; its place is its instruction.
UnwoundStack Stack(const std::vector<UnwoundFrame>& frames,
                   StackEnd end = StackEnd::kComplete) {
  UnwoundStack stack;
  stack.end = end;
  stack.at = frames;
  for (const UnwoundFrame& frame : frames) {
    stack.frames.push_back({ModuleTable::kUnknown, frame.instruction});
  }
  return stack;
}

std::vector<uint64_t> PlacesOf(const UnwoundStack& stack) {
  std::vector<uint64_t> places;
  for (const symbolize::CodePlace& place : stack.frames) {
    places.push_back(place.module == ModuleTable::kCut ? 0 : place.address);
  }
  return places;
}

class OuterFramesTest : public testing::Test {
 protected:
  // What the thread's memory has. Of it, `copy` has nothing by default.
  void Put(const std::vector<UnwoundFrame>& frames) {
    for (size_t i = 1; i < frames.size(); ++i) {
      memory_[frames[i].stack_pointer - 8] = frames[i].instruction;
    }
  }
  size_t Read(std::span<const uint64_t> addresses,
              std::span<uint64_t> values) const {
    size_t count = 0;
    for (const uint64_t address : addresses) {
      const auto word = memory_.find(address);
      if (word == memory_.end()) break;
      values[count++] = word->second;
    }
    return count;
  }
  bool Complete(UnwoundStack& stack, const StackCopy& copy = {},
                int64_t thread = kThread, int64_t image = kImage) {
    return known_.Complete(
        thread, image, copy,
        [this](auto addresses, auto values) { return Read(addresses, values); },
        &stack);
  }
  void Keep(const std::vector<UnwoundFrame>& frames) {
    UnwoundStack stack = Stack(frames);
    EXPECT_TRUE(Complete(stack));
    EXPECT_EQ(stack.frames.size(), frames.size());
    Put(frames);
  }

  std::map<uint64_t, uint64_t> memory_;
  OuterFrames known_;
};

TEST_F(OuterFramesTest, ACutStackGetsTheOuterFramesOfTheLastWholeOne) {
  UnwoundStack cut = Stack({{0x100, 1}, {0x180, 2}}, StackEnd::kTruncated);
  EXPECT_FALSE(Complete(cut));  // no whole stack yet
  Keep({{0x140, 10}, {0x170, 11}, {0x200, 12}, {0x300, 13}});
  EXPECT_TRUE(Complete(cut));
  EXPECT_TRUE(cut.is_joined);
  EXPECT_EQ(PlacesOf(cut), (std::vector<uint64_t>{1, 2, 0, 12, 13}));
}

TEST_F(OuterFramesTest, CallersThatHaveGoneAreLeftOut) {
  Keep({{0x100, 10}, {0x200, 11}, {0x300, 12}, {0x400, 13}});
  memory_[0x300 - 8] = 15;  // a call of another place
  UnwoundStack cut = Stack({{0x100, 1}}, StackEnd::kIncomplete);
  EXPECT_TRUE(Complete(cut));
  EXPECT_EQ(PlacesOf(cut), (std::vector<uint64_t>{1, 0, 13}));
  memory_[0x400 - 8] = 16;
  cut = Stack({{0x100, 1}}, StackEnd::kIncomplete);
  EXPECT_FALSE(Complete(cut));
  EXPECT_FALSE(cut.is_joined);
  EXPECT_EQ(PlacesOf(cut), (std::vector<uint64_t>{1}));
}

TEST_F(OuterFramesTest, WhatCannotBeReadIsNotBelieved) {
  Keep({{0x100, 10}, {0x200, 11}, {0x300, 12}});
  memory_.erase(0x200 - 8);
  UnwoundStack cut = Stack({{0x100, 1}}, StackEnd::kTruncated);
  EXPECT_FALSE(Complete(cut));
}

TEST_F(OuterFramesTest, TheCopyGoesBeforeTheMemory) {
  Keep({{0x100, 10}, {0x120, 11}, {0x130, 12}, {0x140, 13}});
  // The copy is of 0x100 to 0x130.
  std::vector<uint64_t> words(6);
  const StackCopy copy{0x100, std::as_bytes(std::span(words))};
  words[(0x120 - 8 - 0x100) / 8] = 99;  // another caller
  words[(0x130 - 8 - 0x100) / 8] = 12;
  UnwoundStack cut = Stack({{0x100, 1}}, StackEnd::kIncomplete);
  EXPECT_TRUE(Complete(cut, copy));
  EXPECT_EQ(PlacesOf(cut), (std::vector<uint64_t>{1, 0, 12, 13}));
}

// Python's functions are found from them.
TEST_F(OuterFramesTest, WatchedFramesAreRememberedWithTheirRegisters) {
  UnwoundStack whole =
      Stack({{0x100, 10}, {0x120, 11}, {0x200, 12}, {0x300, 13}});
  for (const size_t index : {0u, 1u, 3u}) {
    WatchedFrame& watched = whole.watched.emplace_back();
    watched.index = index;
    watched.registers[kRsp] = whole.at[index].stack_pointer;
    watched.end = 0x400;
  }
  EXPECT_TRUE(Complete(whole));
  Put(whole.at);
  UnwoundStack cut = Stack({{0x180, 1}}, StackEnd::kTruncated);
  EXPECT_TRUE(Complete(cut));
  EXPECT_EQ(PlacesOf(cut), (std::vector<uint64_t>{1, 0, 12, 13}));
  ASSERT_EQ(cut.watched.size(), 1u);
  EXPECT_EQ(cut.watched[0].index, 3u);
  EXPECT_EQ(cut.watched[0].registers[kRsp], 0x300u);
  EXPECT_EQ(cut.watched[0].end, 0x400u);
  EXPECT_TRUE(cut.watched[0].is_remembered);
  EXPECT_FALSE(whole.watched[0].is_remembered);
}

TEST_F(OuterFramesTest, NothingIsInventedWhereNothingIsAbove) {
  Keep({{0x100, 10}, {0x120, 11}});
  UnwoundStack cut = Stack({{0x200, 1}}, StackEnd::kIncomplete);
  EXPECT_FALSE(Complete(cut));
  EXPECT_EQ(cut.frames.size(), 1u);
}

TEST_F(OuterFramesTest, ThreadsAndProgramsAreApart) {
  Keep({{0x100, 10}, {0x200, 11}});
  UnwoundStack cut = Stack({{0x100, 1}}, StackEnd::kTruncated);
  EXPECT_FALSE(Complete(cut, {}, kThread + 1));
  EXPECT_FALSE(Complete(cut, {}, kThread, kImage + 1));
  known_.Forget(kThread);
  EXPECT_FALSE(Complete(cut));
}

}  // namespace
}  // namespace kymo::sampling
