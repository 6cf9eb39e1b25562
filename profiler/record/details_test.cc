// Tests the details of a range's record: inputs, numbers, overload names.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiler/record/captured.h"
#include "profiler/record/host/own_host.h"
#include "profiler/record/starts.h"
#include "profiler/record/test_records.h"

namespace kymo::record {
namespace {

class DetailsTest : public RecordTest {
 protected:
  DetailsTest() : RecordTest(kGateInputs | kGateOverloads) {}
  ~DetailsTest() override { SetNodeId(-1); }

  static void Begin(const RangeDetails& details, std::string_view name = "") {
    OpenRange range;
    BeginRangeWithDetails(range, name.empty() ? Literal("range") : Literal(),
                          name, RecordScope::kFunction, details);
    EndRange(range);
  }
};

std::string Encoded(const std::vector<Input>& inputs) {
  std::string bytes(EncodedInputBytes(inputs.data(), inputs.size()), '\0');
  EncodeInputs(inputs.data(), inputs.size(), bytes.data());
  return bytes;
}

TEST_F(DetailsTest, ARangeHasWhatItWasGivenAndNothingElse) {
  const Arg arg = {"key", 7};
  const std::vector<Input> inputs = {Input(3), Input("text")};
  Begin({});
  Begin({.sequence_nr = 0});
  Begin({.forward_thread_id = 5});
  Begin({.debug_handle = 0});
  Begin({.args = &arg,
         .arg_count = 1,
         .inputs = inputs.data(),
         .input_count = inputs.size(),
         .overload_name = "out",
         .sequence_nr = 3,
         .forward_thread_id = 4,
         .debug_handle = 9,
         .flags = kSlotAsync},
        "dynamic");
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 5u);
  // Of 32 bytes; a number takes 16.
  const struct {
    std::string args;
    uint32_t slots;
  } expected[] = {
      {"", 0},
      {"sequence 0 of thread 0 ", 1},
      {"sequence -1 of thread 5 ", 1},
      {"handle 0 node+1 0 ", 1},
      // The name and the overload take 16 each, and the inputs 8 + 16 + 16.
      {"key=7 sequence 3 of thread 4 handle 9 node+1 0 overload out ", 4}};
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].args, expected[i].args);
    EXPECT_EQ(records[i].extra_slots, expected[i].slots) << i;
    EXPECT_EQ(records[i].inputs, i == 4 ? Encoded(inputs) : "");
    EXPECT_EQ(records[i].flags, i == 4 ? uint32_t{kSlotAsync} : 0);
    EXPECT_EQ(records[i].name, i == 4 ? "dynamic" : "range");
    EXPECT_TRUE(records[i].has_end);
    EXPECT_EQ(records[i].records, 1u);
  }
}

TEST_F(DetailsTest, RangesCarryTheProcesssNode) {
  SetNodeId(0);
  Begin({});
  SetNodeId(6);
  Begin({.debug_handle = 2});
  // Captured ranges, too.
  OpenRange range;
  BeginCaptured(range, {.name = {.id = kNameInPayload, .text = "captured"},
                        .source = kSlotNvtx});
  EndRange(range);
  RecordCapturedInstant(
      {.name = {.id = Host().intern("now", 3)}, .source = kSlotNvtx});
  SetNodeId(-1);
  Begin({});
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[0].args, "handle -1 node+1 1 ");
  EXPECT_EQ(records[1].args, "handle 2 node+1 7 ");
  EXPECT_EQ(records[2].name, "captured");
  EXPECT_EQ(records[2].args, "handle -1 node+1 7 ");
  EXPECT_EQ(records[3].name, "now");
  EXPECT_EQ(records[3].args, "handle -1 node+1 7 ");
  EXPECT_EQ(records[3].extra_slots, 1u);
  EXPECT_EQ(records[4].args, "");
}

TEST_F(DetailsTest, WhatIsTooLongIsCutOrLeftOutAndCounted) {
  static constexpr char kFits[kMaxPieceBytes + 1] = {'x'};
  static constexpr char kLonger[kMaxPieceBytes + 2] = {'x'};
  // A text of 8 * n bytes takes 8 * n + 8 bytes of inputs.
  const std::string fits(kMaxPieceBytes - 8, 'y');
  const std::string longer(kMaxPieceBytes, 'y');
  const Input fitting = Input(std::string_view(fits));
  const Input too_long = Input(std::string_view(longer));
  Begin({.overload_name = kFits});
  Begin({.inputs = &fitting, .input_count = 1});
  EXPECT_EQ(TruncatedHere(), 0u);
  Begin({.overload_name = kLonger});
  EXPECT_EQ(TruncatedHere(), 1u);
  Begin({.inputs = &too_long, .input_count = 1});
  EXPECT_EQ(TruncatedHere(), 2u);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 4u);
  const std::string cut =
      "overload " + std::string(kFits, kMaxPieceBytes) + " ";
  EXPECT_TRUE(records[0].args == cut);
  EXPECT_TRUE(records[1].inputs == Encoded({fitting}));
  EXPECT_TRUE(records[2].args == cut);
  EXPECT_EQ(records[3].inputs, "");
}

TEST_F(DetailsTest, DetailsThatDoNotFitBesideALongNameFollowIt) {
  const Arg arg = {"key", 7};
  // With the argument's 16 bytes and the sequence's, one record is full.
  const std::string fits(kMaxPieceBytes - 32, 'n');
  const std::string longer(kMaxPieceBytes - 24, 'n');
  for (const std::string* name : {&fits, &longer}) {
    Begin({.args = &arg, .arg_count = 1, .sequence_nr = 3, .flags = kSlotAsync},
          *name);
  }
  // Where nobody wants more there is no further record.
  Begin({.flags = kSlotModule}, std::string(kMaxPieceBytes + 1, 'n'));
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 3u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(records[i].name == (i == 0 ? fits : longer));
    EXPECT_EQ(records[i].args, "key=7 sequence 3 of thread 0 ");
    EXPECT_EQ(records[i].flags, kSlotAsync);
  }
  EXPECT_EQ(records[0].records, 1u);
  EXPECT_EQ(records[1].records, 3u);
  EXPECT_EQ(records[2].records, 2u);
  EXPECT_EQ(records[2].flags, kSlotModule);
}

using PlainDetailsTest = RecordTest;

TEST_F(PlainDetailsTest, WhatNobodyAskedForIsLeftOut) {
  const Input input = Input(3);
  OpenRange range;
  BeginRangeWithDetails(
      range, "range", {}, RecordScope::kFunction,
      {.inputs = &input, .input_count = 1, .overload_name = "out"});
  EndRange(range);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].args, "");
  EXPECT_EQ(records[0].inputs, "");
  EXPECT_EQ(records[0].extra_slots, 0u);
}

// Without a collector nobody would read them.
TEST_F(PlainDetailsTest, StartsAreNotedForACollector) {
  constexpr StartEnvironment kNoArena = StartEnvironment::kNoArena;
  ASSERT_FALSE(CollectorRecords());
  EXPECT_EQ(NoteStart(7, "/bin/true", 100, kNoArena), nullptr);
  TakeBackStart(nullptr);
  // As if a collector owned this process's arena.
  ArenaHeader& header = ProcessArena()->header();
  own.has_collector.store(true);
  EXPECT_EQ(NoteStart(7, "/bin/true", 100, kNoArena), nullptr)
      << "it does not record";
  header.recording.store(1);
  StartEntry* const start = NoteStart(7, "/bin/true", 100, kNoArena);
  header.recording.store(0);
  own.has_collector.store(false);
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start, &ProcessArena()->start(0));
  EXPECT_EQ(ProcessArena()->start_count(), 1u);
  EXPECT_EQ(start->pid.load(), 7);
  EXPECT_EQ(start->start_monotonic_ns, 100);
  EXPECT_EQ(start->environment, kNoArena);
  EXPECT_EQ(ProcessArena()->NameText(start->program), "/bin/true");
  TakeBackStart(start);
  EXPECT_EQ(start->pid.load(), 0);
  Stop();
}

}  // namespace
}  // namespace kymo::record
