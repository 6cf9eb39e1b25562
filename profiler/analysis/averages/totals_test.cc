#include "profiler/analysis/averages/totals.h"

#include <utility>

#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

TEST(TotalsTest, CountsEverythingPerTrackAndOverall) {
  TestTrace t;
  t.SetWindow(5, 1005);
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 100, 200);
  t.AddRange(main, "b", 120, 130);
  t.AddInstant(main, "i", 300);
  t.AddRange(main, "c", 400, 450);
  t.AddSample(main, 100, 30, {"f"});
  t.AddSample(main, 150, 7, {"f"});
  t.AddUpSamples();
  t.AddSample(main, 200, 20, {"f"});
  const auto stream = t.AddStream(0, 7);
  t.AddRange(stream, "k", 500, 600);
  t.AddCounter(main, "queue", 10, 1);
  const Totals totals = ComputeTotals(std::move(t).Build());
  EXPECT_EQ(totals.profiled_ns, 1000);
  EXPECT_EQ(totals.range_count, 4);
  EXPECT_EQ(totals.instant_count, 1);
  EXPECT_EQ(totals.counter_sample_count, 1);
  EXPECT_EQ(totals.sample_count, 3);
  EXPECT_EQ(totals.sampled_ns, 57);
  EXPECT_EQ(totals.cpu_top_level_ns, 150);
  EXPECT_EQ(totals.device_top_level_ns, 100);
  ASSERT_EQ(totals.tracks.size(), 2u);
  EXPECT_EQ(totals.tracks[0].range_count, 3);
  EXPECT_EQ(totals.tracks[0].top_level_ns, 150);
  EXPECT_EQ(totals.tracks[0].sample_count, 3);
  EXPECT_EQ(totals.tracks[0].sampled_ns, 57);
  EXPECT_EQ(totals.tracks[1].top_level_ns, 100);
}

TEST(TotalsTest, OverlappingRootsCoverTimeOnce) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 100);
  t.AddRange(main, "b", 50, 150);
  t.AddRange(main, "async", 60, 900, model::ActivityType::kCpuOp,
             model::kEventAsync);
  const Totals totals = ComputeTotals(std::move(t).Build());
  EXPECT_EQ(totals.tracks[0].top_level_ns, 150);
  EXPECT_EQ(totals.tracks[0].range_count, 3);
}

TEST(TotalsTest, EmptyTraceIsAllZero) {
  const Totals totals = ComputeTotals(TestTrace().Build());
  EXPECT_EQ(totals.profiled_ns, 0);
  EXPECT_TRUE(totals.tracks.empty());
}

}  // namespace
}  // namespace kymo::analysis
