#include "profiler/analysis/averages/counter_values.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/model/trace.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

TEST(CounterValuesTest, TheMeanIsOverTheTimeThatEachValueIsKept) {
  TestTrace t;
  t.SetWindow(0, 1'000);
  const auto main = t.AddThread(1, 1, "main");
  const auto other = t.AddThread(1, 2, "other");
  t.AddCounter(main, "queue", 200, 4);   // until 300
  t.AddCounter(main, "queue", 300, 10);  // until 900
  t.AddCounter(main, "queue", 900, 2);   // until 1,000
  t.AddCounter(other, "queue", 500, 7);
  const model::Trace trace = std::move(t).Build();
  const std::vector<CounterValues> all = ComputeCounterValues(trace);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].track, main);
  EXPECT_EQ(trace.Name(all[0].name), "queue");
  EXPECT_EQ(all[0].sample_count, 3);
  EXPECT_EQ(all[0].min, 2);
  EXPECT_EQ(all[0].max, 10);
  EXPECT_EQ(all[0].last, 2);
  // (4 * 100 + 10 * 600 + 2 * 100) / 800
  EXPECT_DOUBLE_EQ(all[0].mean, 8.25);
  EXPECT_EQ(all[1].track, other);
  EXPECT_EQ(all[1].mean, 7);
}

// Whatever the counters before it had.
TEST(CounterValuesTest, AValueAloneIsTheLeastAndTheMost) {
  TestTrace t;
  t.SetWindow(0, 100);
  const auto main = t.AddThread(1, 1, "main");
  t.AddCounter(main, "a", 10, 5);
  t.AddCounter(main, "a", 20, 1);
  t.AddCounter(main, "b", 10, 6);
  t.AddCounter(main, "c", 10, 5);
  t.AddCounter(main, "c", 20, 9);
  t.AddCounter(main, "d", 10, 6);
  const auto all = ComputeCounterValues(std::move(t).Build());
  ASSERT_EQ(all.size(), 4u);
  for (const size_t i : {1u, 3u}) {
    EXPECT_EQ(all[i].sample_count, 1);
    EXPECT_EQ(all[i].min, 6);
    EXPECT_EQ(all[i].max, 6);
    EXPECT_EQ(all[i].last, 6);
    EXPECT_EQ(all[i].mean, 6);
  }
}

TEST(CounterValuesTest, ValuesThatAreNotFiniteAreLeftOut) {
  TestTrace t;
  t.SetWindow(0, 40);
  const auto main = t.AddThread(1, 1, "main");
  t.AddCounter(main, "a", 0, 1);
  t.AddCounter(main, "a", 10, std::nan(""));
  t.AddCounter(main, "a", 20, 3);
  t.AddCounter(main, "a", 30, std::numeric_limits<double>::infinity());
  t.AddCounter(main, "b", 0, std::nan(""));
  const auto all = ComputeCounterValues(std::move(t).Build());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].sample_count, 2);
  EXPECT_EQ(all[0].mean, 2);
  EXPECT_EQ(all[0].last, 3);
}

TEST(CounterValuesTest, ValuesOfOneInstantShareIt) {
  TestTrace t;
  t.SetWindow(50, 50);
  const auto main = t.AddThread(1, 1, "main");
  t.AddCounter(main, "a", 50, 1);
  t.AddCounter(main, "a", 50, 5);
  const auto all = ComputeCounterValues(std::move(t).Build());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].mean, 3);
}

TEST(CounterValuesTest, HugeValuesKeepAFiniteMean) {
  constexpr double kMost = std::numeric_limits<double>::max();
  TestTrace t;
  t.SetWindow(0, 30);
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 3; ++i) t.AddCounter(main, "a", 10 * i, kMost);
  const auto all = ComputeCounterValues(std::move(t).Build());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].mean, kMost);
}

// A window that is converted with another clock may begin a little before the
// last value of the one before it.
TEST(CounterValuesTest, ATimeThatIsTooEarlyCountsAsTheOneBefore) {
  CounterSum sum;
  sum.Add(100, 4);
  sum.Add(200, 8);
  sum.Add(190, 16);
  sum.Add(300, 2);
  const CounterValues values = sum.ValuesUntil(400);
  EXPECT_EQ(values.sample_count, 4);
  EXPECT_EQ(values.max, 16);
  EXPECT_EQ(values.last, 2);
  // (4 * 100 + 8 * 0 + 16 * 100 + 2 * 100) / 300
  EXPECT_DOUBLE_EQ(values.mean, 2'200.0 / 300);
}

TEST(CounterValuesTest, ATraceWithoutCountersHasNone) {
  EXPECT_TRUE(ComputeCounterValues(TestTrace().Build()).empty());
}

}  // namespace
}  // namespace kymo::analysis
