#include "profiler/record/captured.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <thread>
#include <vector>

#include "profiler/record/handle_map.h"
#include "profiler/record/host/own_host.h"
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

TEST_F(CapturedTest, ARangeEndsTogetherWithWhatOnlyItsEndKnows) {
  const CapturedArg args[] = {{.key = LiteralId("bytes"), .bits = 7},
                              {.key = LiteralId("from"), .bits = 3}};
  OpenRange range;
  BeginCaptured(range, {.name = {.id = LiteralId("range")},
                        .scope = RecordScope::kFunction,
                        .args = args,
                        .arg_count = 1});
  const uint64_t ticks = EndCaptured(range, args + 1, 1);
  EXPECT_EQ(EndCaptured(range, args, 2) >= ticks, true);  // over: no more args
  // What the range has begun, and what has ended with it.
  const uint64_t id = BeginCapturedAsync(Named("async"), ticks);
  EndCapturedAsync(id, args, 2, ticks + 1);
  // The chunk that the range began in is sealed before its end.
  OpenRange long_one;
  BeginCaptured(long_one, Named("long"));
  for (size_t i = 0; i < kSlotsPerChunk; ++i) {
    RecordCapturedInstant(Named("instant"));
  }
  EndCaptured(long_one, args, 2, ticks + 2);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 3 + kSlotsPerChunk);
  EXPECT_EQ(records[0].name, "range");
  EXPECT_EQ(records[0].scope, RecordScope::kFunction);
  EXPECT_EQ(records[0].flags, 0u);
  EXPECT_EQ(records[0].args, "bytes=7 from=3 ");
  EXPECT_EQ(records[0].end, ticks);
  EXPECT_EQ(records[0].records, 2u);
  EXPECT_EQ(records[1].args, "bytes=7 from=3 ");
  EXPECT_EQ(records[1].begin, ticks);
  EXPECT_EQ(records[1].end, ticks + 1);
  EXPECT_EQ(records[1].depth, records[0].depth);
  EXPECT_EQ(records[2].name, "long");
  EXPECT_EQ(records[2].args, "bytes=7 from=3 ");
  EXPECT_TRUE(records[2].has_end);
  EXPECT_EQ(records[2].end, ticks + 2);
  EXPECT_EQ(records.back().depth, records[2].depth + 1);
}

// A thread that has recorded nothing before has no stream yet.
TEST_F(CapturedTest, AnotherThreadMayEndARange) {
  OpenRange ranges[2];
  for (OpenRange& range : ranges) BeginCaptured(range, Named("range"));
  const uint64_t ticks = TicksNow();
  std::thread([&] { EndCaptured(ranges[0], nullptr, 0, ticks); }).join();
  std::thread([&] { EndCaptured(ranges[1], nullptr, 0); }).join();
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].end, ticks);
  EXPECT_TRUE(records[1].has_end);
  EXPECT_GE(records[1].end, ticks);
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
  const uint64_t ticks = TicksNow();
  EndCapturedAsync(ids[0], nullptr, 0, ticks);  // this chunk is full
  EndCapturedAsync(ids[kRanges - 1]);           // in the thread's chunk
  EndCapturedAsync(ids[kRanges - 1]);           // once more
  std::thread([&] { EndCapturedAsync(ids[kSlotsPerChunk + 1]); }).join();
  EndCapturedAsync(0);
  EndCapturedAsync(ids[1] | ~(~uint64_t{0} >> 1));  // of another ticket
  CountEndWithoutBegin();
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), kRanges);
  EXPECT_EQ(records[0].end, ticks);
  for (size_t i = 0; i < kRanges; ++i) {
    const bool is_ended = i == 0 || i == kRanges - 1 || i == kSlotsPerChunk + 1;
    EXPECT_EQ(records[i].has_end, is_ended) << i;
    EXPECT_EQ(records[i].args, i == 0 || i == kRanges - 1 ? "int=7 " : "");
    EXPECT_EQ(records[i].flags, kSlotNvtx | kSlotAsync);
  }
  EXPECT_EQ(ends_without_begin_, 4);
}

TEST_F(CapturedTest, OnlyAsynchronousRangesEndByTheirId) {
  const uint64_t id = BeginCapturedAsync(Named("async"));
  OpenRange range;
  BeginCaptured(range, Named("range"));
  RecordCapturedInstant(Named("instant"));
  const uint64_t second = BeginCapturedAsync(Named("second"));
  EXPECT_EQ(second, id + 3) << "ids count slots";
  EndCapturedAsync(id + 1);  // the range
  EndCapturedAsync(id + 2);  // the instant
  EndCapturedAsync(id + 4);  // what the first of these was taken for
  EndCapturedAsync(second);
  EndRange(range);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_FALSE(records[0].has_end);
  EXPECT_EQ(records[0].scope, RecordScope::kUserScope);
  EXPECT_TRUE(records[1].has_end);
  EXPECT_EQ(records[1].depth, records[0].depth) << "it has no children";
  EXPECT_EQ(records[2].depth, records[0].depth + 1);
  EXPECT_EQ(records[2].scope, RecordScope{0});
  EXPECT_FALSE(records[2].has_end);
  EXPECT_EQ(records[3].depth, records[0].depth + 1);
  EXPECT_TRUE(records[3].has_end);
  EXPECT_GE(records[3].end, records[3].begin);
  EXPECT_EQ(ends_without_begin_, 3);
}

TEST_F(CapturedTest, ThingsHaveHandlesAndNames) {
  OpenRange range;
  BeginCaptured(range, Named("range"));
  RecordCapturedCounter(Id("counter"), kSlotItt, 1);
  RecordCapturedResource(ResourceKind::kStream, 0x1234, Named("stream"));
  RecordCapturedResource(
      ResourceKind::kThread, 7,
      {.name = {.id = kNameInPayload, .text = "passing"}, .source = kSlotItt});
  const CapturedArg named = {
      .key = Id("colour"), .kind = PayloadKind::kNamed, .bits = Id("red")};
  AddCapturedArgs(range, &named, 1);
  AddCapturedArgs(range, &named, 0);  // nothing
  EndRange(range);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].args, "colour=red ");
  EXPECT_EQ(records[0].records, 2u);
  EXPECT_EQ(records[1].depth, records[0].depth + 1);
  EXPECT_EQ(records[1].scope, RecordScope{0});
  EXPECT_EQ(records[1].flags, kSlotItt);
  EXPECT_EQ(records[1].extra_slots, 0u);
  ASSERT_EQ(resources_.size(), 2u);
  EXPECT_EQ(resources_[0].name, "stream");
  EXPECT_EQ(resources_[0].end, 0x1234u);
  EXPECT_EQ(static_cast<int>(resources_[0].scope),
            static_cast<int>(ResourceKind::kStream));
  EXPECT_EQ(resources_[0].flags, kSlotNvtx);
  EXPECT_EQ(resources_[0].depth, 0u);
  EXPECT_EQ(resources_[1].name, "passing");
  EXPECT_EQ(resources_[1].end, 7u);
  EXPECT_EQ(static_cast<int>(resources_[1].scope),
            static_cast<int>(ResourceKind::kThread));
  EXPECT_EQ(resources_[1].flags, kSlotItt);
}

TEST_F(CapturedTest, ArgumentsFillARecordToItsEnd) {
  // A record has room for 8200 bytes, in which an integer takes 16. One that
  // goes along with a name of 8 bytes finds 8184.
  constexpr size_t kMost = 512;
  const std::vector<CapturedArg> args(kMost + 1, {.key = Id("i"), .bits = 7});
  OpenRange range, other;
  BeginCaptured(range, Named("range"));
  AddCapturedArgs(range, args.data(), kMost);
  EXPECT_EQ(TruncatedHere(), 0u);
  AddCapturedArgs(range, args.data(), kMost + 1);
  EXPECT_EQ(TruncatedHere(), 1u);
  EndRange(range);
  Captured what = {.name = {.id = kNameInPayload, .text = "12345678"},
                   .source = kSlotNvtx,
                   .args = args.data(),
                   .arg_count = kMost - 1};
  BeginCaptured(other, what);
  EndRange(other);
  EXPECT_EQ(TruncatedHere(), 1u);
  what.arg_count = kMost;
  RecordCapturedInstant(what);
  EXPECT_EQ(TruncatedHere(), 2u);
  // Nothing is added once nobody records.
  const uint64_t id = BeginCapturedAsync(Named("async"));
  BeginCaptured(range, Named("open"));
  EXPECT_EQ(SetSessionEnabled(id_, false), 0);
  AddCapturedArgs(range, args.data(), 1);
  AddCapturedArgs(id, args.data(), 1);
  CountEndWithoutBegin();
  EXPECT_EQ(SetSessionEnabled(id_, true), 0);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 5u);
  std::string all;
  for (size_t i = 0; i + 1 < kMost; ++i) all += "i=7 ";
  EXPECT_TRUE(records[0].args == all + "i=7 " + all + "i=7 ");
  EXPECT_TRUE(records[1].args == all);
  EXPECT_EQ(records[1].name, "12345678");
  EXPECT_TRUE(records[2].args == all);
  EXPECT_EQ(records[3].args, "");
  EXPECT_EQ(records[4].args, "");
  EXPECT_EQ(ends_without_begin_, 0);
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

TEST(HandleMapTest, GapsAreClosedOverTheEndOfTheTable) {
  static HandleMap map;
  // Handles by the place that they want: the last one and the first ones.
  const auto handle_at = [](uint64_t place, uint64_t i) {
    return OfHash(place << (64 - 18) | i);
  };
  constexpr uint64_t kLast = HandleMap::kCapacity - 1;
  const uint64_t handles[] = {handle_at(kLast, 1), handle_at(kLast, 2),
                              handle_at(0, 1), handle_at(2, 1),
                              handle_at(1, 1)};
  // Which handle is taken first; each of the others is still found.
  for (const uint64_t first : handles) {
    for (const uint64_t handle : handles) {
      EXPECT_TRUE(map.Put(handle, handle + 1));
    }
    uint64_t value = 0;
    EXPECT_TRUE(map.Take(first, &value));
    for (const uint64_t handle : handles) {
      EXPECT_EQ(map.Find(handle, &value), handle != first);
    }
    for (const uint64_t handle : handles) {
      EXPECT_EQ(map.Take(handle, &value), handle != first);
      EXPECT_TRUE(handle == first || value == handle + 1);
    }
  }
}

TEST(HandleMapTest, AHandlerThatInterruptsTheRecorderFindsNothing) {
  static HandleMap map;
  EXPECT_TRUE(map.Put(1, 10));
  uint64_t value = 0;
  {
    const Busy busy;
    EXPECT_FALSE(map.Put(2, 20));
    EXPECT_FALSE(map.Find(1, &value));
    EXPECT_FALSE(map.Take(1, &value));
  }
  EXPECT_EQ(own_thread.busy, 0u);
  EXPECT_FALSE(map.Find(2, &value));
  EXPECT_TRUE(map.Take(1, &value));
  EXPECT_EQ(value, 10u);
}

}  // namespace
}  // namespace kymo::record
