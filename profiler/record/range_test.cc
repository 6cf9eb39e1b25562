// Tests what records hold, slot by slot.
#include "profiler/record/range.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "profiler/record/host/host.h"
#include "profiler/record/host/thread_stream.h"
#include "profiler/record/test_records.h"

namespace kymo::record {
namespace {

using RangeTest = RecordTest;

TEST_F(RangeTest, ARangeHasItsNameScopeDepthAndEnd) {
  OpenRange outer, inner, open;
  BeginRange(outer, "outer", RecordScope::kFunction);
  BeginRange(inner, "inner", RecordScope::kUserScope);
  EndRange(inner);
  EndRange(inner);  // over: nothing happens
  EndRange(outer);
  BeginRange(open, "open", RecordScope::kBackwardFunction);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].name, "outer");
  EXPECT_EQ(records[0].kind, SlotKind::kRange);
  EXPECT_EQ(records[0].scope, RecordScope::kFunction);
  EXPECT_TRUE(records[0].has_end);
  EXPECT_EQ(records[1].name, "inner");
  EXPECT_EQ(records[1].scope, RecordScope::kUserScope);
  EXPECT_EQ(records[1].depth, records[0].depth + 1);
  EXPECT_EQ(records[2].depth, records[0].depth);
  EXPECT_EQ(records[2].scope, RecordScope::kBackwardFunction);
  EXPECT_FALSE(records[2].has_end);
  EndRange(open);
}

TEST_F(RangeTest, ArgumentsStandBehindTheName) {
  const Arg args[] = {{"int", -5},           {"double", 0.5},
                      {"text", "value"},     {"none", ""},
                      {"eight", "12345678"}, {"large", uint64_t{1} << 63}};
  OpenRange literal, dynamic, more;
  BeginRangeWithPayload(literal, "literal", {}, RecordScope::kFunction, args,
                        std::size(args));
  EndRange(literal);
  BeginRangeWithPayload(dynamic, {}, "dynamic", RecordScope::kFunction, args,
                        1);
  EndRange(dynamic);
  BeginRangeWithPayload(more, {}, "", RecordScope::kFunction, nullptr, 0);
  AddArgs(more, args, 3);
  EndRange(more);
  AddArgs(more, args, 3);  // over: nothing happens
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].name, "literal");
  EXPECT_EQ(records[0].args,
            "int=-5 double=0.500000 text=value none= eight=12345678 "
            "large=-9223372036854775808 ");
  EXPECT_EQ(records[1].name, "dynamic");
  EXPECT_EQ(records[1].args, "int=-5 ");
  EXPECT_EQ(records[2].name, "");
  EXPECT_EQ(records[2].args, "int=-5 double=0.500000 text=value ");
  EXPECT_EQ(records[2].records, 4u);
}

TEST_F(RangeTest, LongTextsAreWrittenInPieces) {
  const std::vector<size_t> sizes = {kMaxPieceBytes - 1,
                                     kMaxPieceBytes,
                                     kMaxPieceBytes + 1,
                                     2 * kMaxPieceBytes - 1,
                                     2 * kMaxPieceBytes,
                                     2 * kMaxPieceBytes + 1,
                                     100'000};
  const auto text_of = [](size_t size) {
    std::string text;
    for (size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i % 23);
    return text;
  };
  for (const size_t size : sizes) {
    const std::string text = text_of(size);
    const Arg args[] = {{"int", 7}, {"text", std::string_view(text)}};
    OpenRange name, argument;
    BeginRangeWithPayload(name, {}, text, RecordScope::kFunction, args, 1);
    EndRange(name);
    BeginRangeWithPayload(argument, "argument", {}, RecordScope::kFunction,
                          args, 2);
    EndRange(argument);
  }
  EXPECT_EQ(TruncatedHere(), 0u);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 2 * sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string text = text_of(sizes[i]);
    EXPECT_TRUE(records[2 * i].name == text) << sizes[i];
    EXPECT_EQ(records[2 * i].args, "int=7 ");
    EXPECT_EQ(records[2 * i + 1].name, "argument");
    EXPECT_TRUE(records[2 * i + 1].args == "int=7 text=" + text + " ")
        << sizes[i];
  }
}

TEST_F(RangeTest, AnInstantThatIsTooLongIsCutAndCounted) {
  const std::string fits(kMaxPieceBytes, 'n');
  const std::string long_name(kMaxPieceBytes + 1, 'n');
  const Arg arg = {"int", 7};
  OpenRange around;
  BeginRange(around, "around", RecordScope::kFunction);
  RecordInstant("short", {}, &arg, 1);
  RecordInstant({}, fits, nullptr, 0);
  EXPECT_EQ(TruncatedHere(), 0u);
  RecordInstant({}, fits, &arg, 1);
  EXPECT_EQ(TruncatedHere(), 1u);
  RecordInstant({}, long_name, nullptr, 0);
  EXPECT_EQ(TruncatedHere(), 2u);
  EndRange(around);
  RecordInstant("outside", {}, nullptr, 0);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 6u);
  for (size_t i = 1; i < 6; ++i) {
    EXPECT_EQ(records[i].kind, SlotKind::kInstant);
    EXPECT_EQ(records[i].scope, RecordScope{0});
    EXPECT_EQ(records[i].depth, records[0].depth + (i < 5));
    EXPECT_FALSE(records[i].has_end);
    EXPECT_EQ(records[i].records, 1u);
  }
  EXPECT_EQ(records[1].name, "short");
  EXPECT_EQ(records[1].args, "int=7 ");
  EXPECT_EQ(records[5].name, "outside");
  for (size_t i = 2; i < 5; ++i) {
    EXPECT_TRUE(records[i].name == fits);
    EXPECT_EQ(records[i].args, "");
  }
}

TEST_F(RangeTest, CountersHaveAValue) {
  OpenRange around;
  BeginRange(around, "around", RecordScope::kFunction);
  RecordCounter(Literal("literal"), 0.5);
  RecordCounter(std::string_view("dynamic"), -1e300);
  EndRange(around);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1].kind, SlotKind::kCounter);
  EXPECT_EQ(records[1].name, "literal");
  EXPECT_EQ(std::bit_cast<double>(records[1].end), 0.5);
  EXPECT_EQ(records[1].depth, records[0].depth + 1);
  EXPECT_EQ(records[1].scope, RecordScope{0});
  EXPECT_EQ(records[2].name, "dynamic");
  EXPECT_EQ(std::bit_cast<double>(records[2].end), -1e300);
  EXPECT_EQ(records[2].depth, records[0].depth + 1);
}

TEST_F(RangeTest, MemoryHasItsDeviceAndAmounts) {
  OpenRange around;
  BeginRange(around, "around", RecordScope::kFunction);
  RecordMemory({.address = 0x1000,
                .bytes = 64,
                .total_allocated = 100,
                .total_reserved = 200,
                .device_type = 1,
                .device_index = 3});
  RecordMemory({.address = 0x2000,
                .bytes = -64,
                .device_type = 0,
                .device_index = -1,
                .flag = kMemoryOutOfMemory});
  EndRange(around);
  std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1].depth, records[0].depth + 1);
  records.erase(records.begin());
  EXPECT_EQ(records[0].kind, SlotKind::kMemory);
  EXPECT_EQ(records[0].scope, RecordScope{0});
  EXPECT_EQ(records[0].extra_slots, 1u);
  EXPECT_EQ(records[0].end, 0x1000u);
  EXPECT_EQ(records[0].memory.bytes, 64);
  EXPECT_EQ(records[0].memory.total_allocated, 100);
  EXPECT_EQ(records[0].memory.total_reserved, 200);
  EXPECT_EQ(records[0].memory.stack_size, 0u);
  EXPECT_EQ(records[0].device, 1u | 3u << 16);
  EXPECT_EQ(records[0].flags, kMemoryAllocation);
  EXPECT_EQ(records[1].end, 0x2000u);
  EXPECT_EQ(records[1].memory.bytes, -64);
  EXPECT_EQ(records[1].device, 0xffffu << 16);
  EXPECT_EQ(records[1].flags, kMemoryOutOfMemory);
}

TEST_F(RangeTest, AnotherThreadMayEndARangeAndAddToIt) {
  OpenRange range, after;
  BeginRange(range, "range", RecordScope::kFunction);
  std::thread([&] {
    const Arg arg = {"from", "another"};
    AddArgs(range, &arg, 1);
    EndRange(range);
  }).join();
  BeginRange(after, "after", RecordScope::kFunction);
  EndRange(after);
  // The other thread's chunk comes behind this one's.
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].name, "range");
  EXPECT_TRUE(records[0].has_end);
  EXPECT_EQ(records[0].args, "from=another ");
  EXPECT_EQ(records[0].records, 3u);
  // This thread was not told that the range is over.
  EXPECT_EQ(records[1].depth, records[0].depth + 1);
}

TEST_F(RangeTest, ARangeThatOutlivesItsChunkEndsInARecordOfItsOwn) {
  OpenRange range, inner, after;
  BeginRange(range, "range", RecordScope::kFunction);
  for (uint32_t i = 0; i < kSlotsPerChunk; ++i) {
    BeginRange(inner, "inner", RecordScope::kFunction);
    EndRange(inner);
  }
  EndRange(range);
  BeginRange(after, "after", RecordScope::kFunction);
  EndRange(after);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), size_t{kSlotsPerChunk} + 2);
  EXPECT_EQ(records.front().name, "range");
  EXPECT_TRUE(records.front().has_end);
  EXPECT_EQ(records.front().records, 2u);
  EXPECT_EQ(records.back().name, "after");
  EXPECT_EQ(records.back().depth, records.front().depth);
}

// As where a library was unloaded and another one lies in its place.
TEST_F(RangeTest, AnotherTextAtALiteralsAddressIsAnotherName) {
  char text[] = "first";
  Literal literal;
  literal.text = text;
  literal.size = 5;
  literal.hash = 1;
  const auto record = [&] {
    OpenRange range;
    BeginRange(range, literal, RecordScope::kFunction);
    EndRange(range);
  };
  record();
  text[0] = 'F';
  record();  // the name is known by its address
  literal.hash = 2;
  record();
  record();
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].name, "first");
  EXPECT_EQ(records[1].name, "first");
  EXPECT_EQ(records[2].name, "First");
  EXPECT_EQ(records[3].name, "First");
}

TEST_F(RangeTest, WhatEndsWhileNobodyRecordsIsNotRecorded) {
  OpenRange here, elsewhere;
  BeginRange(here, "here", RecordScope::kFunction);
  BeginRange(elsewhere, "elsewhere", RecordScope::kFunction);
  EXPECT_EQ(SetSessionEnabled(id_, false), 0);
  EXPECT_FALSE(IsOn());
  const Arg arg = {"int", 7};
  AddArgs(here, &arg, 1);
  std::thread([&] { EndRange(elsewhere); }).join();
  EXPECT_EQ(elsewhere.slot, nullptr);
  EndRange(here);
  EXPECT_EQ(SetSessionEnabled(id_, true), 0);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].args, "");
  EXPECT_EQ(records[0].records, 1u);
  EXPECT_TRUE(records[0].has_end) << "in its own slot";
  EXPECT_GE(records[0].end, records[0].begin);
  EXPECT_EQ(records[1].records, 1u);
  EXPECT_FALSE(records[1].has_end);
}

TEST_F(RangeTest, AnOuterRangesEndEndsWhatALongjmpLeftOpen) {
  OpenRange outer, left, after;
  BeginRange(outer, "outer", RecordScope::kFunction);
  BeginRange(left, "left", RecordScope::kFunction);
  EndRange(outer);
  BeginRange(after, "after", RecordScope::kFunction);
  EndRange(after);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_FALSE(records[1].has_end);
  EXPECT_EQ(records[2].depth, records[0].depth);
}

TEST_F(RangeTest, UnlessSomebodyAsksThereAreNoStacks) {
  SetStackCapture([](const void*, uint64_t* pcs, uint64_t) noexcept {
    pcs[0] = 1000;
    return uint64_t{1};
  });
  OpenRange range;
  BeginRangeWithDetails(range, "range", {}, RecordScope::kFunction, {});
  EndRange(range);
  RecordMemory({.bytes = 8});
  SetStackCapture(nullptr);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].frames, 0u);
  EXPECT_EQ(records[1].frames, 0u);
  EXPECT_EQ(records[1].memory.stack_size, 0u);
}

class StackRangeTest : public RecordTest {
 protected:
  StackRangeTest() : RecordTest(kGateStacks) {
    // A stack of `frames_` frames, with the addresses 1000, 1001, ...
    SetStackCapture([](const void*, uint64_t* pcs, uint64_t most) noexcept {
      const uint64_t size = frames_ < most ? frames_ : most;
      for (uint64_t i = 0; i < size; ++i) pcs[i] = 1000 + i;
      return size;
    });
  }
  ~StackRangeTest() override { SetStackCapture(nullptr); }

  static inline uint64_t frames_ = 0;
};

TEST_F(StackRangeTest, StacksBeyondTheLimitAreCut) {
  const std::vector<uint64_t> sizes = {
      0, 1, 3, kMaxStackFrames - 1, kMaxStackFrames, kMaxStackFrames + 1};
  for (const uint64_t size : sizes) {
    frames_ = size;
    OpenRange range;
    BeginRangeWithDetails(range, "range", {}, RecordScope::kFunction, {});
    EndRange(range);
    RecordMemory({.bytes = 8});
  }
  EXPECT_EQ(TruncatedHere(), 0u);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 2 * sizes.size());
  for (size_t i = 0; i < records.size(); ++i) {
    const uint64_t size = sizes[i / 2];
    EXPECT_EQ(records[i].frames, std::min<uint64_t>(size, kMaxStackFrames));
    EXPECT_EQ(records[i].is_cut, size > kMaxStackFrames) << size;
    if (records[i].kind == SlotKind::kMemory) {
      EXPECT_EQ(records[i].memory.stack_size, records[i].frames);
    }
  }
}

TEST_F(StackRangeTest, BackwardOperationsHaveNoStack) {
  frames_ = 3;
  OpenRange forward, backward;
  BeginRangeWithDetails(forward, "forward", {}, RecordScope::kFunction, {});
  EndRange(forward);
  BeginRangeWithDetails(backward, "backward", {},
                        RecordScope::kBackwardFunction, {});
  EndRange(backward);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].frames, 3u);
  EXPECT_EQ(records[1].frames, 0u);
}

}  // namespace
}  // namespace kymo::record
