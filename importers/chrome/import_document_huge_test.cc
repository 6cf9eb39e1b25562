// Text whose parts are deep, long or many; waits of threads.
#include "importers/chrome/import_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/chrome/test_import.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"

namespace kymo::chrome_import {
namespace {

using model::Loss;
using ::testing::ElementsAre;

TEST(ImportDocumentTest, DepthIsNoMatter) {
  const std::string deep(1'000'000, '[');
  EXPECT_FALSE(ImportText(deep).trace->event_count());
  EXPECT_FALSE(ImportText("{\"a\":" + deep).status.ok());
  const Imported got = ImportText(
      "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":{\"x\":" +
      deep + std::string(1'000'000, ']') + "}}]");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.trace->event_count(), 1u);
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"a\":";
  EXPECT_TRUE(ImportText("[" + objects).status.ok());
}

TEST(ImportDocumentTest, LongMembersAreLeftOut) {
  const std::string text = "{\"long\":[" + std::string(50'000, '1') +
                           "],\"traceEvents\":[],\"short\":1}";
  const Imported got =
      ImportText(text, {.window_bytes = 512, .max_element_bytes = 10'000});
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.Count("member_too_long"), 1u);
  EXPECT_EQ(got.Offset("member_too_long"), 8u);
  EXPECT_EQ(got.trace->metadata().size(), 1u);
}

TEST(ImportDocumentTest, ManyElementsWithoutAnEndTakeNoQuadraticTime) {
  std::string text = "[";
  for (int i = 0; i < 100'000; ++i) text += "{{},{\"";
  const Imported got = ImportText(text, {.max_element_bytes = 100'000});
  EXPECT_TRUE(got.status.ok());
}

// As exporters/chrome writes it: thread 8 waits for 5 us, is then runnable for
// 1 us, and thread 9 has woken it. `bad` replaces `good`.
Imported WithWaits(std::string_view good, std::string_view bad) {
  std::string text = R"json({"kymo_loss_ledger":{},"baseTimeNanoseconds":1000,
      "traceEvents":[
      {"ph":"M","name":"thread_name","pid":7,"tid":8,
       "args":{"name":"thread 8 (main)"}},
      {"ph":"M","name":"thread_name","pid":7,"tid":1000000000,
       "args":{"name":"thread 8 (main) waits"}},
      {"ph":"X","cat":"cpu_op","name":"f","pid":7,"tid":8,"ts":1,"dur":9},
      {"ph":"X","cat":"thread_wait","name":"lock","pid":7,"tid":1000000000,
       "ts":2,"dur":5},
      {"ph":"X","cat":"thread_wait","name":"runnable","pid":7,"tid":1000000000,
       "ts":7,"dur":1},
      {"ph":"M","name":"thread_name","pid":7,"tid":1000000001,
       "args":{"name":"thread 9 (waker) waits"}},
      {"ph":"X","cat":"thread_wait","name":"wakes","pid":7,"tid":1000000001,
       "ts":7,"dur":0.1},
      {"ph":"s","cat":"thread_wait","name":"wake","id":0,"pid":7,
       "tid":1000000001,"ts":7},
      {"ph":"f","cat":"thread_wait","name":"wake","id":0,"pid":7,
       "tid":1000000000,"ts":7,"bp":"e"}],
      "kymo_records_0":{"names":["f","a.cc:5"],"frames":[[1,0,0,0,0,0]],
      "stacks":[[0,0]],"min_wait_ns":100,"wait_rows":[[7,8],[7,9]],
      "waits":[[0,1,1,2000,6000,1001,1,4660,2,2,0,1,1]],
      "short_waits":[[1,3,1,4661,2,4,80,70]]}})json";
  const size_t at = text.find(good);
  EXPECT_NE(at, text.npos) << good;
  text.replace(at, good.size(), bad);
  return ImportText(text);
}

TEST(ImportDocumentTest, WaitsComeBackAsTheyWereAndAreNoRanges) {
  const Imported got = WithWaits("", "");
  ASSERT_TRUE(got.status.ok()) << got.status;
  EXPECT_FALSE(got.trace->ledger().AnythingLost());
  EXPECT_THAT(got.Ranges(), ElementsAre("f@2000+9000"));
  ASSERT_EQ(got.trace->tracks().size(), 2u);
  ASSERT_NE(got.trace->thread_states(), nullptr);
  const model::ThreadStates& states = *got.trace->thread_states();
  EXPECT_EQ(states.min_wait_ns, 100);
  ASSERT_EQ(states.waits.size(), 1u);
  const model::Wait& wait = states.waits[0];
  EXPECT_EQ(got.trace->tracks()[wait.track].id, 8);
  EXPECT_EQ(wait.kind, model::WaitKind::kLock);
  EXPECT_TRUE(wait.is_open);
  EXPECT_EQ(wait.begin_ns, 3000);
  EXPECT_EQ(wait.duration_ns, 6000);
  EXPECT_EQ(wait.runnable_ns, 1000);
  EXPECT_EQ(got.trace->stacks().depth(wait.stack), 1u);
  EXPECT_EQ(wait.object, 4660u);
  EXPECT_EQ(got.trace->Name(wait.object_name), "a.cc:5");
  EXPECT_EQ(got.trace->tracks()[wait.waker].id, 9);
  EXPECT_EQ(wait.waker_stack, model::kEmptyStack);
  EXPECT_EQ(got.trace->tracks()[wait.holder].id, 8);
  EXPECT_EQ(wait.holder_stack, wait.stack);
  const model::WaitSum sum = {.track = wait.waker,
                              .kind = model::WaitKind::kSleep,
                              .stack = wait.stack,
                              .object = 4661,
                              .object_name = wait.object_name,
                              .count = 4,
                              .duration_ns = 80,
                              .longest_ns = 70};
  EXPECT_THAT(states.short_waits, ElementsAre(sum));
}

TEST(ImportDocumentTest, WaitsThatCannotBeAreCounted) {
  const auto is_corrupt = [](std::string_view good, std::string_view bad) {
    const Imported got = WithWaits(good, bad);
    EXPECT_TRUE(got.status.ok()) << got.status;
    EXPECT_EQ(got.trace->thread_states() == nullptr,
              got.trace->ledger().Get(Loss::kRecordsCorrupt) == 1);
    return got.trace->thread_states() == nullptr;
  };
  EXPECT_FALSE(is_corrupt(",1001,", ",6001,"));
  EXPECT_FALSE(is_corrupt("1,4660,2,2,", "0,4660,0,0,"));
  for (const auto& [good, bad] :
       std::vector<std::pair<std::string_view, std::string_view>>{
           {"[[0,1,1,2", "[[2,1,1,2"},
           {"[[0,1,1,2", "[[0,99,1,2"},
           {"[[0,1,1,2", "[[0,1,2,2"},
           {",2000,", ",9223372036854775808,"},
           {",6000,", ",9223372036854775808,"},
           {",1001,", ",6002,"},
           {",1,4660,", ",2,4660,"},
           {",4660,2,2,", ",4660,3,2,"},
           {",4660,2,2,", ",4660,2,3,"},
           {",2,0,1,1]", ",2,2,1,1]"},
           {",2,0,1,1]", ",2,0,3,1]"},
           {",2,0,1,1]", ",2,0,1,2]"},
           {",2,0,1,1]", ",2]"},
           {"[[1,3,1", "[[2,3,1"},
           {"[[1,3,1", "[[1,99,1"},
           {"[[1,3,1", "[[1,3,2"},
           {"4661,2", "4661,3"},
           {",4,80,", ",0,80,"},
           {",80,70]", ",69,70]"},
           {"min_wait_ns\":100", "min_wait_ns\":-1"},
           {"[[7,8],", "[[7],"}}) {
    EXPECT_TRUE(is_corrupt(good, bad)) << good << " -> " << bad;
  }
}

}  // namespace
}  // namespace kymo::chrome_import
