#include "profiler/analysis/ranks/rank_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// A rank that solves for so long, three times, and works for `work`.
RankSums Solver(int64_t rank, DurationNs duration, DurationNs work = 10'000) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  for (const TimeNs begin : {1'000, 3'000, 5'000}) {
    t.AddRange(main, "solve", begin, begin + duration);
  }
  t.AddRange(main, "recursion", 7'000, 7'100);
  t.AddRange(main, "recursion", 7'010, 7'050);
  t.SetWindow(1'000, 1'000 + work);
  return RankSums::Of(std::move(t).Build(), rank);
}

TEST(RankSumsTest, ARankHasItsCallsAndTotals) {
  const RankSums sums = Solver(4, 100);
  const NameSums& solve = sums.names().find("solve")->second;
  EXPECT_EQ(solve.calls.count, 3);
  EXPECT_EQ(solve.calls.sum_ns, 300);
  EXPECT_EQ(solve.totals.count, 1);
  EXPECT_EQ(solve.totals.sum_ns, 300);
  EXPECT_EQ(solve.totals.most_rank, 4);
  const NameSums& recursion = sums.names().find("recursion")->second;
  EXPECT_EQ(recursion.calls.count, 2);
  EXPECT_EQ(recursion.totals.sum_ns, 100);
  EXPECT_THAT(sums.ranks(), ElementsAre(RankWork{4, 10'000}));
}

TEST(RankSumsTest, RanksAddUpInAnyOrder) {
  const RankSums zero = Solver(0, 100);
  const RankSums one = Solver(1, 400);
  const RankSums two = Solver(2, 100);
  RankSums left = zero;
  left.Merge(one);
  left.Merge(two);
  RankSums right = two;
  right.Merge(one);
  right.Merge(zero);
  EXPECT_EQ(left.Serialize(), right.Serialize());
  const NameSums& solve = left.names().find("solve")->second;
  EXPECT_EQ(solve.calls.count, 9);
  EXPECT_EQ(solve.calls.sum_ns, 1'800);
  EXPECT_EQ(solve.totals.count, 3);
  EXPECT_DOUBLE_EQ(solve.totals.mean_ns(), 600);
  // 300, 1200, 300
  EXPECT_NEAR(solve.totals.deviation_ns(), std::sqrt(180'000), 1e-6);
  EXPECT_EQ(solve.totals.most_ns, 1'200);
  EXPECT_EQ(solve.totals.most_rank, 1);
  EXPECT_EQ(solve.totals.least_ns, 300);
  EXPECT_EQ(solve.totals.least_rank, 0);
  EXPECT_THAT(solve.histogram, ElementsAre(Pair(DurationBucket(100), 6),
                                           Pair(DurationBucket(400), 3)));
  EXPECT_THAT(left.ranks(), SizeIs(3));
}

TEST(RankSumsTest, BucketsAreAQuarterWideAtMost) {
  int last = -1;
  for (DurationNs duration = 0; duration < 5'000; ++duration) {
    const int bucket = DurationBucket(duration);
    EXPECT_TRUE(bucket == last || bucket == last + 1) << duration;
    last = bucket;
    EXPECT_GE(DurationBucketEnd(bucket), duration);
    EXPECT_LE(DurationBucketEnd(bucket), duration + duration / 4) << duration;
  }
  EXPECT_LT(DurationBucket(INT64_MAX), 256);
  EXPECT_EQ(DurationBucketEnd(DurationBucket(INT64_MAX)), INT64_MAX);
}

TEST(RankSumsTest, QuantilesAreThoseOfAllCalls) {
  RankSums sums = Solver(0, 100);
  sums.Merge(Solver(1, 900));
  const NameSums& solve = sums.names().find("solve")->second;
  EXPECT_NEAR(solve.QuantileNs(0.5), 100, 25);
  EXPECT_EQ(solve.QuantileNs(0.99), 900);
}

TEST(RankSumsTest, BytesOfANetworkAreCheckedBeforeTheyAreBelieved) {
  RankSums sums = Solver(0, 100);
  sums.Merge(Solver(5, 900));
  const std::string bytes = sums.Serialize();
  const auto read = RankSums::Parse(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->Serialize(), bytes);
  EXPECT_EQ(read->ranks(), sums.ranks());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(RankSums::Parse(bytes.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(RankSums::Parse(bytes + "x").has_value());
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string wrong = bytes;
    wrong[at] = static_cast<char>(0xff);
    (void)RankSums::Parse(wrong);  // it neither crashes nor takes much memory
  }
}

TEST(RankSumsTest, TheSlowestTheFastestAndTheMiddleAreInteresting) {
  RankSums sums;
  EXPECT_THAT(sums.MostInteresting(3), IsEmpty());
  // Rank 6 worked longest, rank 0 least, and rank 3 is in the middle.
  for (int64_t rank = 0; rank < 7; ++rank) {
    sums.Merge(Solver(rank, 100, 10'000 + 1'000 * rank));
  }
  EXPECT_THAT(sums.MostInteresting(1), ElementsAre(6));
  EXPECT_THAT(sums.MostInteresting(2), ElementsAre(0, 6));
  EXPECT_THAT(sums.MostInteresting(3), ElementsAre(0, 3, 6));
  EXPECT_THAT(sums.MostInteresting(5), ElementsAre(0, 1, 3, 5, 6));
  EXPECT_THAT(sums.MostInteresting(100), SizeIs(7));
  // Rank 4 left the job before its end. Of rank 9, no averages came.
  EXPECT_THAT(sums.MostInteresting(0, 4), IsEmpty());
  EXPECT_THAT(sums.MostInteresting(1, 4), ElementsAre(4));
  EXPECT_THAT(sums.MostInteresting(2, 4), ElementsAre(4, 6));
  EXPECT_THAT(sums.MostInteresting(2, 6), ElementsAre(0, 6));
  EXPECT_THAT(sums.MostInteresting(3, 9), ElementsAre(0, 6, 9));
}

TEST(RankSumsTest, NamesBeyondTheMostAreAddedUp) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  const int names = static_cast<int>(RankSums::kMostNames) + 100;
  for (int i = 0; i < names; ++i) {
    t.AddRange(main, "name " + std::to_string(i), 10 * i, 10 * i + 1 + i % 9);
  }
  RankSums sums = RankSums::Of(std::move(t).Build(), 0);
  EXPECT_THAT(sums.names(), SizeIs(RankSums::kMostNames));
  int64_t calls = 0;
  for (const auto& [name, of] : sums.names()) calls += of.calls.count;
  EXPECT_EQ(calls, names);
  EXPECT_EQ(sums.names().find(RankSums::kOthers)->second.calls.count, 101);
}

}  // namespace
}  // namespace kymo::analysis
