#include "kymo/annotate.h"

#include <gtest/gtest.h>
#include <stdio.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "profiler/record/captured_stack.h"
#include "profiler/record/foreign_names.h"
#include "profiler/record/test_records.h"

namespace kymo::annotate {
namespace {

using record::kGateStacks;
using record::Record;
using record::SlotKind;

using AnnotateTest = record::RecordTest;

TEST_F(AnnotateTest, RecordsTheExampleOfTheHeader) {
  kymo_push("forward");
  kymo_arg_int("rows", 64);
  kymo_counter("queue length", 12);
  kymo_instant("weights loaded");
  kymo_pop();
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].kind, SlotKind::kRange);
  EXPECT_EQ(records[0].name, "forward");
  EXPECT_EQ(records[0].args, "rows=64 ");
  EXPECT_EQ(records[0].scope, RecordScope::kFunction);
  EXPECT_EQ(records[0].flags, record::kSlotPushed);
  EXPECT_GE(records[0].end, records[2].begin);
  EXPECT_EQ(records[1].kind, SlotKind::kCounter);
  EXPECT_EQ(records[1].name, "queue length");
  EXPECT_EQ(records[1].end, 0x4028000000000000u);  // 12, as IEEE 754 has it
  EXPECT_EQ(records[2].kind, SlotKind::kInstant);
  EXPECT_EQ(records[2].name, "weights loaded");
  EXPECT_EQ(records[2].depth, 1u);
}

TEST_F(AnnotateTest, RangesNestAndValuesGoToTheInnermost) {
  kymo_push("outer");
  kymo_push("inner");
  kymo_arg_double("share", 0.5);
  kymo_arg_text("file", "a.txt");
  kymo_pop();
  kymo_arg_int("rows", INT64_MIN);
  kymo_pop();
  kymo_push("next");
  kymo_pop();
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].args, "rows=-9223372036854775808 ");
  EXPECT_EQ(records[1].args, "share=0.500000 file=a.txt ");
  EXPECT_EQ(records[0].depth, 0u);
  EXPECT_EQ(records[1].depth, 1u);
  EXPECT_EQ(records[2].depth, 0u);
  EXPECT_LE(records[1].end, records[0].end);
  EXPECT_LE(records[0].end, records[2].begin);
}

TEST_F(AnnotateTest, TextsAreCopied) {
  char text[32];
  constexpr int kNames = 200;  // more than a pointer may change its text
  for (int i = 0; i < kNames; ++i) {
    snprintf(text, sizeof(text), "step %d", i);
    kymo_push(text);
    snprintf(text, sizeof(text), "key %d", i);
    kymo_arg_text(text, text);
    kymo_pop();
    kymo_instant(text);
    kymo_counter(text, i);
  }
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), size_t{3 * kNames});
  for (int i = 0; i < kNames; ++i) {
    const std::string key = "key " + std::to_string(i);
    EXPECT_EQ(records[3 * i].name, "step " + std::to_string(i));
    EXPECT_EQ(records[3 * i].args, key + "=" + key + " ");
    EXPECT_EQ(records[3 * i + 1].name, key);
    EXPECT_EQ(records[3 * i + 2].name, key);
  }
  // A text that changes all the time does not fill the table of names.
  EXPECT_EQ(records[3 * kNames - 3].device, record::kNameInPayload);
  EXPECT_EQ(records[3 * kNames - 2].device, record::kNameInPayload);
}

TEST_F(AnnotateTest, LongTextsAreKeptAndThoseOfInstantsAreCut) {
  const std::string longer(20'000, 'n');
  kymo_push(longer.c_str());
  kymo_arg_text("text", longer.c_str());
  kymo_pop();
  EXPECT_EQ(TruncatedHere(), 0u);
  kymo_instant(longer.c_str());
  EXPECT_EQ(TruncatedHere(), 1u);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_TRUE(records[0].name == longer);
  EXPECT_TRUE(records[0].args == "text=" + longer + " ");
  EXPECT_EQ(records[0].flags, record::kSlotPushed);
  EXPECT_TRUE(records[1].name == longer.substr(0, 4096));
}

TEST_F(AnnotateTest, NullPointersAreNames) {
  kymo_push(nullptr);
  kymo_arg_text(nullptr, nullptr);
  kymo_pop();
  kymo_instant(nullptr);
  kymo_counter(nullptr, 1);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 3u);
  for (const Record& record : records) EXPECT_EQ(record.name, "(no name)");
  EXPECT_EQ(records[0].args, "(no name)= ");
}

TEST_F(AnnotateTest, EndsAndValuesWithoutARangeDoNothing) {
  kymo_pop();
  kymo_arg_int("rows", 1);
  kymo_push("range");
  kymo_pop();
  kymo_pop();
  kymo_arg_int("rows", 2);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].args, "");
  EXPECT_EQ(ends_without_begin_, 0);
}

TEST_F(AnnotateTest, RangesMayStartBeforeTheRecordingOrEndAfterIt) {
  EXPECT_EQ(kymo_is_recording(), 1);
  Stop();
  EXPECT_EQ(kymo_is_recording(), 0);
  kymo_push("before");
  kymo_push("before");
  ASSERT_EQ(record::StartSession({}, &id_), 0);
  kymo_push("recorded");
  kymo_pop();
  kymo_pop();
  kymo_pop();
  kymo_push("ends after it");
  const std::vector<Record> records = Stop();
  kymo_push("after");
  kymo_pop();
  EXPECT_EQ(record::captured_stack->size, 1u);
  kymo_pop();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].name, "recorded");
  EXPECT_EQ(records[0].depth, 0u);
  EXPECT_TRUE(records[0].has_end);
  EXPECT_FALSE(records[1].has_end);
  EXPECT_EQ(record::captured_stack->size, 0u);
}

TEST_F(AnnotateTest, TakesNoMemoryWhileNobodyRecords) {
  Stop();
  const uint64_t texts = record::foreign_tables.load() == nullptr
                             ? 0
                             : record::foreign_tables.load()->passing.load();
  std::thread([] {
    kymo_push("not recorded");
    kymo_instant("not recorded");
    kymo_counter("not recorded", 1);
    kymo_pop();
    EXPECT_EQ(record::captured_stack, nullptr);
  }).join();
  if (record::foreign_tables.load() != nullptr) {
    EXPECT_EQ(record::foreign_tables.load()->passing.load(), texts);
  }
}

uint64_t return_address = 0;

uint64_t CaptureStack(const void* frame, uint64_t* pcs, uint64_t) noexcept {
  // A frame begins with the caller's frame; the return address is behind it.
  return_address = static_cast<const uint64_t*>(frame)[1];
  pcs[0] = 1000;
  return 1;
}

class AnnotateStackTest : public record::RecordTest {
 protected:
  AnnotateStackTest() : RecordTest(kGateStacks) {
    record::SetStackCapture(CaptureStack);
  }
  ~AnnotateStackTest() override { record::SetStackCapture(nullptr); }
};

__attribute__((noinline)) void CallPush() { kymo_push("range"); }

TEST_F(AnnotateStackTest, StacksBeginWithTheCaller) {
  CallPush();
  kymo_pop();
  const auto caller = reinterpret_cast<uint64_t>(CallPush);
  EXPECT_GT(return_address, caller);
  EXPECT_LT(return_address, caller + 64);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].name, "range");
  EXPECT_EQ(records[0].frames, 1u);
}

TEST_F(AnnotateTest, RangesAndInstantsCarryTheProcesssNode) {
  record::SetNodeId(6);
  kymo_push("range");
  kymo_pop();
  kymo_instant("now");
  record::SetNodeId(-1);
  const std::vector<Record> records = Stop();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].args, "handle -1 node+1 7 ");
  EXPECT_EQ(records[1].args, "handle -1 node+1 7 ");
}

}  // namespace
}  // namespace kymo::annotate
