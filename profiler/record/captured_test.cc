#include "profiler/record/captured.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <thread>
#include <vector>

#include "profiler/record/handle_map.h"
#include "profiler/record/test_records.h"

namespace kymo::record {
namespace {

using CapturedTest = RecordTest;

uint32_t Id(std::string_view text) {
  return Host().intern(text.data(), text.size());
}

Captured Named(std::string_view name) {
  return {.name = {.id = Id(name)}, .source = kSlotNvtx};
}

TEST_F(CapturedTest, ARangeHasItsSourceDomainAndArguments) {
  const CapturedArg args[] = {
      {.key = Id("int"), .bits = 7},
      {.key = Id("text"), .kind = PayloadKind::kString, .text = "value"},
      {.key = Id("more"),
       .kind = PayloadKind::kDouble,
       .bits = std::bit_cast<uint64_t>(0.5)}};
  Captured what = {.name = {.id = Id("range")},
                   .source = kSlotItt,
                   .domain = Id("domain"),
                   .args = args,
                   .arg_count = 2};
  OpenRange range;
  BeginCaptured(range, what);
  AddCapturedArgs(range, args + 2, 1);
  EndRange(range);
  AddCapturedArgs(range, args, 1);  // over: nothing happens
  OpenRange plain;
  BeginCaptured(plain, Named("plain"));
  EndRange(plain);
  // The text goes along.
  what.name = {.id = kNameInPayload, .text = "passing"};
  RecordCapturedInstant(what);
  RecordCapturedCounter(Id("counter"), kSlotNvtx, -0.25);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].name, "range");
  EXPECT_EQ(records[0].kind, SlotKind::kRange);
  EXPECT_EQ(records[0].scope, RecordScope::kUserScope);
  EXPECT_EQ(records[0].flags, kSlotItt | Id("domain") << kSlotDomainShift);
  EXPECT_EQ(records[0].args, "int=7 text=value more=0.500000 ");
  EXPECT_TRUE(records[0].has_end);
  EXPECT_EQ(records[1].name, "plain");
  EXPECT_EQ(records[1].flags, kSlotNvtx);
  EXPECT_EQ(records[1].args, "");
  EXPECT_EQ(records[2].kind, SlotKind::kInstant);
  EXPECT_EQ(records[2].name, "passing");
  EXPECT_EQ(records[2].args, "int=7 text=value ");
  EXPECT_EQ(records[3].kind, SlotKind::kCounter);
  EXPECT_EQ(records[3].name, "counter");
  EXPECT_EQ(std::bit_cast<double>(records[3].end), -0.25);
}

TEST_F(CapturedTest, AnAsynchronousRangeEndsOnceByItsId) {
  // In several chunks, so that ids differ in all their parts.
  std::vector<uint64_t> ids;
  constexpr size_t kRanges = 3 * kSlotsPerChunk;
  for (size_t i = 0; i < kRanges; ++i) {
    ids.push_back(BeginCapturedAsync(Named("async")));
    ASSERT_NE(ids.back(), 0u);
  }
  const CapturedArg arg = {.key = Id("int"), .bits = 7};
  AddCapturedArgs(ids[0], &arg, 1);
  AddCapturedArgs(ids[kRanges - 1], &arg, 1);
  EndCapturedAsync(ids[0]);            // this chunk is full
  EndCapturedAsync(ids[kRanges - 1]);  // in the thread's chunk
  EndCapturedAsync(ids[kRanges - 1]);  // once more
  std::thread([&] { EndCapturedAsync(ids[kSlotsPerChunk + 1]); }).join();
  EndCapturedAsync(0);
  EndCapturedAsync(ids[1] | ~(~uint64_t{0} >> 1));  // of another ticket
  CountEndWithoutBegin();
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), kRanges);
  for (size_t i = 0; i < kRanges; ++i) {
    const bool is_ended = i == 0 || i == kRanges - 1 || i == kSlotsPerChunk + 1;
    EXPECT_EQ(records[i].has_end, is_ended) << i;
    EXPECT_EQ(records[i].args, i == 0 || i == kRanges - 1 ? "int=7 " : "");
    EXPECT_EQ(records[i].flags, kSlotNvtx | kSlotAsync);
  }
  EXPECT_EQ(ends_without_begin_, 4);
}

TEST_F(CapturedTest, TextsAreCutAndCounted) {
  constexpr size_t kMost = 4096;  // bytes of a text
  const std::string fits(kMost, 'x');
  const std::string longer(kMost + 1, 'x');
  const auto record = [](std::string_view name, std::string_view value) {
    const CapturedArg arg = {
        .key = Id("k"), .kind = PayloadKind::kString, .text = value};
    RecordCapturedInstant({.name = {.id = kNameInPayload, .text = name},
                           .source = kSlotNvtx,
                           .args = &arg,
                           .arg_count = 1});
  };
  record("short", fits);
  EXPECT_EQ(TruncatedHere(), 0u);
  record("short", longer);
  EXPECT_EQ(TruncatedHere(), 1u);
  record(longer, "short");
  EXPECT_EQ(TruncatedHere(), 2u);
  // Both together are longer than a record: the argument is left out.
  record(fits, fits);
  EXPECT_EQ(TruncatedHere(), 3u);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_TRUE(records[0].args == "k=" + fits + " ");
  EXPECT_TRUE(records[1].args == "k=" + fits + " ");
  EXPECT_TRUE(records[2].name == fits);
  EXPECT_EQ(records[2].args, "k=short ");
  EXPECT_TRUE(records[3].name == fits);
  EXPECT_EQ(records[3].args, "");
}

TEST_F(CapturedTest, ForeignTextsAreOneNameHoweverTheyArePassed) {
  char text[16] = "first";
  const uint32_t first = NameOf(text).id;
  EXPECT_NE(first, kNameLost);
  EXPECT_EQ(NameOf(text).id, first);
  EXPECT_EQ(NameOf("first").id, first);
  // The memory is used for another text.
  text[0] = 'F';
  const uint32_t second = NameOf(text).id;
  EXPECT_NE(second, first);
  EXPECT_EQ(ProcessArena()->NameText(first), "first");
  EXPECT_EQ(ProcessArena()->NameText(second), "First");
  EXPECT_EQ(
      ProcessArena()->NameText(NameOf(static_cast<const char*>(nullptr)).id),
      kNoForeignName);
  EXPECT_EQ(ProcessArena()->NameText(NameOf("").id), "");
  // The longest text that is kept once, and one that goes along.
  const std::string fits(kMaxForeignTextBytes, 'x');
  EXPECT_NE(NameOf(fits.c_str()).id, kNameInPayload);
  const std::string longer(kMaxForeignTextBytes + 1, 'x');
  const ForeignName name = NameOf(longer.c_str());
  EXPECT_EQ(name.id, kNameInPayload);
  EXPECT_EQ(name.text, longer);
  Stop();
}

TEST(HandleMapTest, KeepsTheLastValueOfEachHandle) {
  static HandleMap map;
  uint64_t value = 0;
  EXPECT_FALSE(map.Find(1, &value));
  EXPECT_FALSE(map.Take(1, &value));
  // Half of what there is room for; many share a place.
  constexpr uint64_t kMost = HandleMap::kCapacity / 2;
  for (uint64_t handle = 1; handle <= kMost; ++handle) {
    ASSERT_TRUE(map.Put(handle, 10 * handle));
  }
  EXPECT_FALSE(map.Put(kMost + 1, 1));
  EXPECT_TRUE(map.Put(7, 1)) << "another value takes no room";
  EXPECT_TRUE(map.Find(7, &value));
  EXPECT_EQ(value, 1u);
  // Each third is taken; those behind it in a place are still found.
  for (uint64_t handle = 3; handle <= kMost; handle += 3) {
    ASSERT_TRUE(map.Take(handle, &value));
    ASSERT_EQ(value, 10 * handle);
    ASSERT_FALSE(map.Take(handle, &value));
  }
  for (uint64_t handle = 1; handle <= kMost; ++handle) {
    ASSERT_EQ(map.Find(handle, &value), handle % 3 != 0) << handle;
    if (handle % 3 != 0 && handle != 7) {
      ASSERT_EQ(value, 10 * handle);
    }
  }
  EXPECT_TRUE(map.Put(kMost + 1, 1));
}

}  // namespace
}  // namespace kymo::record
