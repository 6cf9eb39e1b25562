#include "profiler/analysis/averages/key_averages.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/analysis/averages/test_key_averages.h"
#include "profiler/base/op_inputs.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Names(const std::vector<KeyAverage>& averages) {
  std::vector<std::string> names;
  for (const KeyAverage& average : averages) names.push_back(average.name);
  return names;
}

std::vector<DurationNs> SelfTimes(const std::vector<KeyAverage>& averages) {
  std::vector<DurationNs> times;
  for (const KeyAverage& average : averages) {
    times.push_back(average.self_cpu_time_total_ns);
  }
  return times;
}

TEST(KeyAveragesTest, AddsUpByName) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "forward", 100, 900);
  t.AddRange(main, "matmul", 200, 700);
  t.AddRange(main, "matmul", 750, 760);
  const auto rows = KeyAverages(std::move(t).Build());
  ASSERT_THAT(Names(rows), ElementsAre("forward", "matmul"));
  EXPECT_EQ(rows[0].count, 1);
  EXPECT_EQ(rows[0].cpu_time_total_ns, 800);
  EXPECT_EQ(rows[0].self_cpu_time_total_ns, 290);
  EXPECT_EQ(rows[1].count, 2);
  EXPECT_EQ(rows[1].cpu_time_total_ns, 510);
  EXPECT_EQ(rows[1].self_cpu_time_total_ns, 510);
  EXPECT_EQ(rows[1].min_ns, 10);
  EXPECT_EQ(rows[1].max_ns, 500);
  EXPECT_EQ(rows[1].first_event, 1u);
}

TEST(KeyAveragesTest, EmptyTraceHasNone) {
  EXPECT_THAT(KeyAverages(TestTrace().Build()), IsEmpty());
}

TEST(KeyAveragesTest, NestedCallsOfOneNameCountRepeatedly) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "fib", 0, 100);
  t.AddRange(main, "fib", 10, 40);
  t.AddRange(main, "fib", 50, 90);
  const auto rows = KeyAverages(std::move(t).Build());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].count, 3);
  EXPECT_EQ(rows[0].cpu_time_total_ns, 170);
  EXPECT_EQ(rows[0].self_cpu_time_total_ns, 100);
}

TEST(KeyAveragesTest, AnnotationsAndStreamsAreGroupsOfTheirOwn) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "x", 10, 20);
  t.AddAnnotation(main, "x", 30, 50);
  const auto stream = t.AddStream(0, 7);
  t.AddRange(stream, "x", 15, 45, model::ActivityType::kConcurrentKernel);
  const auto rows = KeyAverages(std::move(t).Build());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_FALSE(rows[0].is_user_annotation || rows[0].is_device);
  EXPECT_EQ(rows[0].cpu_time_total_ns, 10);
  EXPECT_TRUE(rows[1].is_device);
  EXPECT_EQ(rows[1].cpu_time_total_ns, 0);
  EXPECT_EQ(rows[1].self_cpu_time_total_ns, 0);
  EXPECT_EQ(rows[1].device_time_total_ns, 30);
  EXPECT_EQ(rows[1].self_device_time_total_ns, 30);
  EXPECT_TRUE(rows[2].is_user_annotation);
  EXPECT_EQ(rows[2].self_cpu_time_total_ns, 20);
}

TEST(KeyAveragesTest, OrderIsByStartThenLongerFirstOverAllThreads) {
  TestTrace t;
  const auto one = t.AddThread(1, 1, "one");
  t.AddRange(one, "late", 50, 60);
  t.AddRange(one, "early", 70, 80);
  const auto two = t.AddThread(1, 2, "two");
  t.AddRange(two, "early", 10, 20);
  t.AddRange(two, "long", 50, 70);
  t.AddRange(two, "same", 50, 60);
  EXPECT_THAT(Names(KeyAverages(std::move(t).Build())),
              ElementsAre("early", "long", "late", "same"));
}

TEST(KeyAveragesTest, StepsAreOneGroupAndInstantsNone) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddAnnotation(main, "ProfilerStep#1", 0, 10);
  t.AddInstant(main, "tick", 5);
  t.AddAnnotation(main, "ProfilerStep#2", 10, 30);
  const auto rows = KeyAverages(std::move(t).Build());
  ASSERT_THAT(Names(rows), ElementsAre("ProfilerStep*"));
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].cpu_time_total_ns, 30);
}

TEST(KeyAveragesTest, AsyncRangesHaveTotalButNoSelfTime) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "x", 0, 3, model::ActivityType::kCpuOp, model::kEventAsync);
  const auto rows = KeyAverages(std::move(t).Build());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].is_async);
  EXPECT_EQ(rows[0].cpu_time_total_ns, 3);
  EXPECT_EQ(rows[0].self_cpu_time_total_ns, 0);
}

TEST(KeyAveragesTest, InstantsAndAsyncRangesTakeNothingFromTheirParent) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 100);
  t.AddInstant(main, "i", 10);
  t.AddRange(main, "async", 20, 500, model::ActivityType::kCpuOp,
             model::kEventAsync);
  t.AddRange(main, "b", 30, 40);
  EXPECT_THAT(SelfTimes(KeyAverages(std::move(t).Build())),
              ElementsAre(90, 0, 10));
}

TEST(KeyAveragesTest, OverlappingChildrenMakeSelfTimesNegative) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 10);
  t.AddRange(main, "b", 1, 8);
  t.AddRange(main, "c", 2, 10);
  EXPECT_THAT(SelfTimes(KeyAverages(std::move(t).Build())),
              ElementsAre(-5, 7, 8));
}

// Parents and children stand in different parts of the parallel pass.
TEST(KeyAveragesTest, RootOverManyRangesLosesAllItsChildren) {
  constexpr int kChildren = 300'000;
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "root", 0, 10 * kChildren);
  for (int i = 0; i < kChildren / 2; ++i) {
    t.AddRange(main, "child", 20 * i, 20 * i + 9);
    t.AddRange(main, "grandchild", 20 * i + 1, 20 * i + 3);
  }
  EXPECT_THAT(SelfTimes(KeyAverages(std::move(t).Build())),
              ElementsAre(10 * kChildren - 9 * (kChildren / 2),
                          7 * (kChildren / 2), 2 * (kChildren / 2)));
}

TEST(KeyAveragesTest, DuplicatesMergeOnRequest) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "add", 0, 10);
  t.AddRange(main, "add", 1, 9);
  t.AddAnnotation(main, "add", 2, 8);
  t.AddRange(main, "mul", 3, 4);
  const model::Trace trace = std::move(t).Build();
  const auto kept = KeyAverages(trace);
  ASSERT_THAT(Names(kept), ElementsAre("add", "add", "mul"));
  EXPECT_EQ(kept[0].count, 2);
  EXPECT_EQ(kept[0].cpu_time_total_ns, 18);
  const auto merged = KeyAverages(trace, Duplicates::kMerge);
  ASSERT_THAT(Names(merged), ElementsAre("add", "mul"));
  EXPECT_EQ(merged[0].count, 1);
  EXPECT_EQ(merged[0].cpu_time_total_ns, 10);
  EXPECT_EQ(merged[0].self_cpu_time_total_ns, 9);
  EXPECT_EQ(merged[1].self_cpu_time_total_ns, 1);
}

TEST(KeyAveragesTest, ShapesAreComparedNotTypes) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "mm", 0, 10);
  DetailOfLast(t).inputs = Inputs(t, {2, 3});
  t.AddRange(main, "mm", 20, 40);
  DetailOfLast(t).inputs = Inputs(t, {2, 3}, DType::kDouble);
  t.AddRange(main, "mm", 50, 55);
  DetailOfLast(t).inputs = Inputs(t, {4, 5});
  t.AddRange(main, "mm", 60, 61);
  const model::Trace trace = std::move(t).Build();
  const auto rows = KeyAverages(trace, {.by_input_shapes = true});
  ASSERT_THAT(Names(rows), ElementsAre("mm", "mm", "mm"));
  EXPECT_EQ(rows[0].input_shapes, "[[2, 3]]");
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].cpu_time_total_ns, 30);
  EXPECT_EQ(rows[1].input_shapes, "[[4, 5]]");
  EXPECT_EQ(rows[1].cpu_time_total_ns, 5);
  EXPECT_EQ(rows[2].input_shapes, "[]");
  EXPECT_EQ(KeyAverages(trace)[0].input_shapes, "");
}

TEST(KeyAveragesTest, InnermostFramesTellGroupsApart) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (const char* caller : {"train", "test", "train"}) {
    const TimeNs start = static_cast<TimeNs>(t.data().start.size()) * 10;
    t.AddRange(main, "mm", start, start + 5);
    const model::StackId stack = Stack(t, {"main", caller, "layer"});
    DetailOfLast(t).stack = stack;
  }
  t.AddRange(main, "mm", 40, 45);  // called elsewhere
  DetailOfLast(t).stack = Stack(t, {"main", "other"});
  const model::Trace trace = std::move(t).Build();
  // Unless it is asked for, frames do not matter.
  EXPECT_EQ(KeyAverages(trace).size(), 1u);
  EXPECT_EQ(KeyAverages(trace, {.by_stack_n = 1}).size(), 2u);
  const auto rows = KeyAverages(trace, {.by_stack_n = 2});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].count, 2);
  const model::StackTable& stacks = trace.stacks();
  EXPECT_EQ(
      trace.Name(
          stacks.frame(stacks.leaf(stacks.parent(rows[1].stack))).function),
      "test");
}

TEST(KeyAveragesTest, OverloadsAreGroupsOnRequest) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "add", 0, 10);
  DetailOfLast(t).overload_name = t.Intern("out");
  t.AddRange(main, "add", 20, 21);
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(KeyAverages(trace).size(), 1u);
  const auto rows = KeyAverages(trace, {.by_overload_name = true});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].overload_name, "out");
  EXPECT_EQ(rows[1].overload_name, "");
}

TEST(KeyAveragesTest, FramesAreLeftOutUnlessAskedFor) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "forward", 0, 100);
  t.AddRange(main, "forward", 10, 90, model::ActivityType::kPythonFunction);
  t.AddRange(main, "mm", 20, 30);
  const model::Trace trace = std::move(t).Build();
  const auto rows = KeyAverages(trace);
  ASSERT_THAT(Names(rows), ElementsAre("forward", "mm"));
  EXPECT_EQ(rows[0].self_cpu_time_total_ns, 20);
  const auto all = KeyAverages(trace, {.include_python_functions = true});
  ASSERT_THAT(Names(all), ElementsAre("forward", "mm"));
  EXPECT_EQ(all[0].count, 2);
  EXPECT_EQ(all[0].self_cpu_time_total_ns, 90);
}

TEST(KeyAveragesTest, FlopsAndMemoryAreSummed) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "forward", 0, 100);
  t.AddRange(main, "mm", 10, 20);
  t.AddRange(main, "mm", 30, 40);
  const int64_t flops[] = {0, 5, 7};
  const int64_t cpu_bytes[] = {100, 60, -10};
  const int64_t device_bytes[] = {8, 4, 4};
  const auto rows =
      KeyAverages(std::move(t).Build(), {.flops = flops,
                                         .cpu_memory_bytes = cpu_bytes,
                                         .device_memory_bytes = device_bytes});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].cpu_memory_usage_bytes, 100);
  EXPECT_EQ(rows[0].self_cpu_memory_usage_bytes, 50);
  EXPECT_EQ(rows[0].self_device_memory_usage_bytes, 0);
  EXPECT_EQ(rows[1].flops, 12);
  EXPECT_EQ(rows[1].cpu_memory_usage_bytes, 50);
  EXPECT_EQ(rows[1].device_memory_usage_bytes, 8);
}

}  // namespace
}  // namespace kymo::analysis
