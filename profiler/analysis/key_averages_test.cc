#include "profiler/analysis/key_averages.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/analysis/call_tree.h"
#include "profiler/analysis/test_trace.h"
#include "profiler/base/parallel.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Names(const std::vector<KeyAverage>& averages) {
  std::vector<std::string> names;
  for (const KeyAverage& average : averages) names.push_back(average.name);
  return names;
}

// Ranges at random, from `threads` threads, with `names` names.
model::Trace RandomTrace(int events, int threads, int names) {
  std::mt19937 random(7);
  TestTrace t;
  for (int thread = 0; thread < threads; ++thread) {
    const auto track = t.AddThread(1, 100 + thread, "worker");
    TimeNs now = random() % 50;
    for (int i = 0; i < events / threads; ++i) {
      now += random() % 20;
      t.AddRange(track, "f" + std::to_string(random() % names), now,
                 now + random() % 300,
                 random() % 8 ? model::ActivityType::kCpuOp
                              : model::ActivityType::kUserAnnotation);
    }
  }
  return std::move(t).Build();
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

TEST(KeyAveragesTest, SelfTimesAgreeWithTheCallTree) {
  const model::Trace trace = RandomTrace(200'000, 3, 50);
  DurationNs of_events = 0;
  for (const DurationNs self : SelfTimes(trace)) of_events += self;
  DurationNs of_groups = 0;
  int64_t count = 0;
  for (const KeyAverage& row : KeyAverages(trace)) {
    of_groups += row.self_cpu_time_total_ns;
    count += row.count;
  }
  EXPECT_EQ(of_groups, of_events);
  EXPECT_EQ(count, static_cast<int64_t>(trace.event_count()));
}

TEST(KeyAveragesTest, SameForAnyNumberOfThreadsAndManyNames) {
  for (const int names : {1, 40, 60'000}) {
    const model::Trace trace = RandomTrace(400'000, 4, names);
    const std::vector<KeyAverage> parallel = KeyAverages(trace);
    const ParallelismLimit limit(1);
    EXPECT_TRUE(KeyAverages(trace) == parallel) << names;
  }
}

}  // namespace
}  // namespace kymo::analysis
