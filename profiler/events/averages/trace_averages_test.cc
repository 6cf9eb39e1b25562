#include "profiler/events/averages/trace_averages.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/events/averages/test_row.h"
#include "profiler/model/folded_memory.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using model::ActivityType;
using model::EventIndex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Rows(const absl::StatusOr<EventAverages>& averages) {
  EXPECT_TRUE(averages.ok()) << averages.status();
  std::vector<std::string> rows;
  if (!averages.ok()) return rows;
  for (const FunctionEventAvg& a : *averages) rows.push_back(Row(a));
  return rows;
}

// Times are us * 1000.
TestTrace Operations() {
  TestTrace t;
  t.SetWindow(0, 100'000);
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "outer", 0, 10'000);
  t.AddRange(main, "inner", 1'000, 3'500);
  t.AddRange(main, "inner", 4'000, 5'000);
  t.AddAnnotation(main, "ProfilerStep#3", 6'000, 7'000);
  t.data().scope.back() = RecordScope::kUserScope;
  const auto add = [&](TimeNs time_ns, int64_t bytes,
                       model::MemoryEvent event) {
    t.data().memory.push_back(
        {.track = main, .event = event, .time_ns = time_ns, .bytes = bytes});
  };
  using enum model::MemoryEvent;
  add(2'000, 64, kAllocation);
  add(8'000, -16, kAllocation);
  add(9'000, 7, kOutOfMemory);
  add(9'500, 8, kOutOfMemory);
  add(20'000, 100, kAllocation);
  add(30'000, -10, kAllocation);
  return t;
}

TEST(TraceAveragesTest, RowsHaveWhatTheColumnsSay) {
  const model::Trace trace = std::move(Operations()).Build();
  const auto averages = AveragesOfTrace(
      trace, {.use_device = "cuda",
              .profile_memory = true,
              .with_flops = true,
              .flops = [](EventIndex event) { return 10 * event; }});
  EXPECT_THAT(
      Rows(averages),
      ElementsAre("outer x1 cpu=10/5.5 mem=48/-16 cuda",
                  "inner x2 cpu=3.5/3.5 mem=64/64 flops=30 parent=0 cuda",
                  "ProfilerStep* x1 cpu=1/1 flops=30 parent=0 annotation "
                  "scoped cuda",
                  "[OutOfMemory] x2 cuda", "[memory] x2 mem=90/90 cuda"));
  EXPECT_EQ(averages->options().use_device, "cuda");
  EXPECT_TRUE(averages->options().profile_memory);
  EXPECT_TRUE(averages->options().with_flops);
  const auto plain = AveragesOfTrace(trace, {});
  EXPECT_THAT(Rows(plain), ElementsAre("outer x1 cpu=10/5.5",
                                       "inner x2 cpu=3.5/3.5 parent=0",
                                       "ProfilerStep* x1 cpu=1/1 parent=0 "
                                       "annotation scoped"));
  EXPECT_FALSE(plain->options().profile_memory);
  EXPECT_FALSE(plain->options().with_flops);
}

// By columns, and by way of events, which device times need.
TEST(TraceAveragesTest, RowsHaveTheWaitsOfTheirThreads) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "outer", 0, 10'000);
  t.AddRange(main, "inner", 1'000, 3'000);
  t.AddRange(main, "inner", 4'000, 5'000);
  const auto other = t.AddThread(1, 2, "nobody timed it");
  t.AddRange(other, "alone", 0, 10'000);
  t.SetThreadTimes({{.track = main, .wall_ns = 20'000}});
  const auto add = [&](TimeNs begin_ns, TimeNs end_ns) {
    t.AddWait({.track = main,
               .kind = model::WaitKind::kSleep,
               .begin_ns = begin_ns,
               .duration_ns = end_ns - begin_ns});
  };
  add(1'500, 2'500);
  add(4'000, 4'250);
  add(6'000, 6'500);
  const model::Trace trace = std::move(t).Build();
  TraceEventsOptions by_events;
  by_events.device_elapsed_us = [](EventIndex) { return 0; };
  for (const TraceEventsOptions& options : {TraceEventsOptions(), by_events}) {
    const auto averages = AveragesOfTrace(trace, options);
    ASSERT_TRUE(averages.ok()) << averages.status();
    ASSERT_EQ(averages->size(), 3u);
    for (const FunctionEventAvg& row : *averages) {
      if (row.key == "outer") {
        EXPECT_EQ(row.wait_time_total, 1.75);
      } else if (row.key == "inner") {
        EXPECT_EQ(row.wait_time_total, 1.25);
      } else {
        EXPECT_EQ(row.wait_time_total, std::nullopt);
      }
    }
    EXPECT_EQ(averages->total_average().wait_time_total, 3);
  }
}

TEST(TraceAveragesTest, OfTheEventsThatCountOnlyTheirsCounts) {
  const model::Trace trace = std::move(Operations()).Build();
  const std::vector<uint8_t> counted = {1, 0, 1, 0};
  // No row is made of memory outside of all operations. Through events, too.
  for (const std::optional<double> timeout_s :
       {std::optional<double>(), std::optional<double>(1e6)}) {
    EXPECT_THAT(Rows(AveragesOfTrace(
                    trace, {.profile_memory = true, .timeout_s = timeout_s}, {},
                    counted)),
                ElementsAre("outer x1 cpu=10/5.5 mem=48/-16",
                            "inner x1 cpu=1/1 parent=0"));
  }
}

TEST(TraceAveragesTest, TheShapesOfARowWithoutInputsAreEmptyLists) {
  const model::Trace trace = std::move(Operations()).Build();
  const TraceEventsOptions options = {.profile_memory = true};
  for (const std::string& row :
       Rows(AveragesOfTrace(trace, options, {.group_by_input_shape = true}))) {
    EXPECT_THAT(row, HasSubstr(" []"));
  }
}

TEST(TraceAveragesTest, FoldedHeapsAreMemoryOutsideOfAllOperations) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 1'000, 2'000);
  t.AddRange(main, "b", 5'000, 6'000);
  t.AddRange(main, "c", 9'000, 10'000);
  auto folded = std::make_shared<model::FoldedMemory>();
  folded->heaps.push_back({.first_ns = 7'000,
                           .allocated = {.count = 5, .bytes = 500},
                           .freed = {.count = 3, .bytes = 100}});
  folded->heaps.push_back(
      {.first_ns = 5'000, .allocated = {.count = 1, .bytes = 50}});
  t.data().folded_memory = folded;
  const model::Trace trace = std::move(t).Build();
  // At the first heap's time, behind what began then.
  EXPECT_THAT(Rows(AveragesOfTrace(trace, {.profile_memory = true})),
              ElementsAre("a x1 cpu=1/1", "b x1 cpu=1/1",
                          "[memory] x9 mem=450/450", "c x1 cpu=1/1"));
  EXPECT_THAT(Rows(AveragesOfTrace(trace, {})),
              ElementsAre("a x1 cpu=1/1", "b x1 cpu=1/1", "c x1 cpu=1/1"));
}

TEST(TraceAveragesTest, StacksAreCutToTheirInnermostFrames) {
  TestTrace t;
  t.AddRange(t.AddThread(1, 1, "main"), "a", 0, 1'000);
  t.Describe(0);
  model::StackId stack = model::kEmptyStack;
  for (const char* name : {"main", "f", "g"}) {
    stack = t.data().stacks.Push(
        stack, t.data().stacks.AddFrame({.function = t.Intern(name)}));
  }
  t.data().details.back().stack = stack;
  const model::Trace trace = std::move(t).Build();
  const auto row = [&](size_t n) {
    return Rows(AveragesOfTrace(trace, {}, {.group_by_stack_n = n}));
  };
  EXPECT_THAT(row(0), ElementsAre("a x1 cpu=1/1"));
  EXPECT_THAT(row(2), ElementsAre("a x1 cpu=1/1 in g;f"));
  EXPECT_THAT(row(3), ElementsAre("a x1 cpu=1/1 in g;f;main"));
  EXPECT_THAT(row(9), ElementsAre("a x1 cpu=1/1 in g;f;main"));
}

// What columns cannot give comes through events.
TEST(TraceAveragesTest, TheAveragesAreThoseOfTheEvents) {
  const auto expect_same = [](const char* what, auto change,
                              const TraceEventsOptions& options = {},
                              const KeyAveragesOptions& grouping = {}) {
    SCOPED_TRACE(what);
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    t.data().tracks[main].logical_id = 1;
    t.AddRange(main, "outer", 0, 10'000);
    t.AddRange(main, "inner", 1'000, 3'500);
    change(t);
    const model::Trace trace = std::move(t).Build();
    const auto events = EventsOfTrace(trace, options);
    ASSERT_TRUE(events.ok()) << events.status();
    EXPECT_EQ(Rows(AveragesOfTrace(trace, options, grouping)),
              Rows(events->events.key_averages(grouping)));
  };
  expect_same("nothing odd", [](TestTrace&) {});
  expect_same("a device",
              [](TestTrace& t) {
                t.AddRange(0, "launch", 4'000, 5'000,
                           ActivityType::kCudaRuntime);
                t.Describe(5);
                t.AddRange(t.AddStream(0, 7, 1), "gemm", 6'000, 9'000,
                           ActivityType::kConcurrentKernel);
                t.Describe(5);
              },
              {.use_device = "cuda"});
  expect_same("a name that is left out", [](TestTrace& t) {
    t.AddRange(0, "aten::is_leaf", 4'000, 5'000);
  });
  expect_same("a node", [](TestTrace& t) {
    t.Describe(0);
    t.SetRare({.node_id = 3});
  });
  expect_same("ranges that overlap", [](TestTrace& t) {
    t.AddRange(t.AddThread(1, 1, "main"), "beside", 9'000, 12'000);
    t.data().tracks[1].logical_id = 1;
  });
  expect_same("device memory outside",
              [](TestTrace& t) {
                t.data().memory.push_back({.device_type = 1,
                                           .device_index = 0,
                                           .time_ns = 20'000,
                                           .bytes = 64});
              },
              {.profile_memory = true});
  expect_same(
      "device memory that failed",
      [](TestTrace& t) {
        t.data().memory.push_back({.event = model::MemoryEvent::kOutOfMemory,
                                   .device_type = 1,
                                   .device_index = 0,
                                   .time_ns = 2'000,
                                   .bytes = 64});
      },
      {.profile_memory = true});
  expect_same("a device's time by events", [](TestTrace&) {},
              {.use_device = "cuda", .device_elapsed_us = [](EventIndex event) {
                 return event == 1 ? 7 : 0;
               }});
  expect_same("backward operations have the stacks of forward ones",
              [](TestTrace& t) {
                t.Describe(0);
                model::Detail& forward = t.data().details.back();
                forward.sequence_nr = 4;
                forward.stack = t.data().stacks.Push(
                    model::kEmptyStack,
                    t.data().stacks.AddFrame({.function = t.Intern("main")}));
                t.AddRange(0, "backward", 20'000, 21'000);
                t.data().scope.back() = RecordScope::kBackwardFunction;
                t.Describe(0);
                t.data().details.back().sequence_nr = 4;
                t.SetRare({.forward_thread = 1});
              },
              {}, {.group_by_stack_n = 3});
}

}  // namespace
}  // namespace kymo
