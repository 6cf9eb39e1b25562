#include "backends/host/counter_log.h"

#include <gtest/gtest.h>

#include "backends/host/test_proc_folder.h"

namespace kymo::host {
namespace {

constexpr TimeNs kSecond = kNsPerSecond;

model::TraceShard ShardOf(CounterLog& log) {
  model::TraceShard shard;
  log.MoveTo(shard);
  return shard;
}

TEST(CounterLogTest, ARateHasTheTimeOfItsBeginning) {
  CounterLog log(100);
  Rate rate(7, "bytes_per_s", 512);
  rate.Update(log, 10 * kSecond, 1'000);
  rate.Update(log, 12 * kSecond, 1'004);
  rate.Update(log, 13 * kSecond, 1'004);
  const auto shard = ShardOf(log);
  ASSERT_EQ(shard.tracks.size(), 1u);
  EXPECT_EQ(shard.tracks[0].pid, 7);
  EXPECT_EQ(shard.tracks[0].id, 7);
  EXPECT_EQ(ValuesOf(shard, 7, "bytes_per_s"),
            (Values{{10 * kSecond, 1'024}, {12 * kSecond, 0}}));
}

TEST(CounterLogTest, ACountThatGoesBackwardsHasNotGrown) {
  CounterLog log(100);
  Rate rate(7, "r");
  rate.Update(log, 1 * kSecond, ~uint64_t{0} - 5);
  rate.Update(log, 2 * kSecond, 4);  // wrapped, or started again
  rate.Update(log, 3 * kSecond, 14);
  EXPECT_EQ(ValuesOf(ShardOf(log), 7, "r"),
            (Values{{1 * kSecond, 0}, {2 * kSecond, 10}}));
}

TEST(CounterLogTest, TimeThatStandsStillGivesNoRate) {
  CounterLog log(100);
  Rate rate(7, "r");
  rate.Update(log, kSecond, 1);
  rate.Update(log, kSecond, 5);
  rate.Update(log, kSecond - 1, 6);
  rate.Update(log, 2 * kSecond, 11);
  EXPECT_EQ(ValuesOf(ShardOf(log), 7, "r"), (Values{{kSecond, 10}}));
}

TEST(CounterLogTest, WhatHadNoValueDoesNotEnd) {
  CounterLog log(100);
  Gauge with(7, "with"), without(7, "without");
  with.Set(log, 1, 3);
  with.End(log, 2);
  without.End(log, 2);
  const auto shard = ShardOf(log);
  EXPECT_EQ(ValuesOf(shard, 7, "with"), (Values{{1, 3}, {2, 0}}));
  EXPECT_EQ(NamesOf(shard), std::set<std::string>{"with"});
}

TEST(CounterLogTest, ValuesBeyondTheLimitAreCounted) {
  CounterLog log(3);
  Gauge gauge(7, "g");
  for (int i = 1; i <= 5; ++i) gauge.Set(log, i, i);
  log.CountLost(10);
  const auto shard = ShardOf(log);
  EXPECT_EQ(ValuesOf(shard, 7, "g"), (Values{{1, 1}, {2, 2}, {3, 3}}));
  EXPECT_EQ(shard.ledger.Get(model::Loss::kCounterValuesDropped), 12u);
}

// Of a vector that grows, a third is reserved in vain on average, and twice as
// much exists while it is copied.
TEST(CounterLogTest, ManyValuesTakeNoMoreThanTheirMemory) {
  constexpr size_t kValues = 2 * CounterLog::kBlockValues + 7;
  CounterLog log(kValues);
  Gauge gauge(7, "g");
  for (size_t i = 0; i < kValues + 2; ++i) {
    gauge.Set(log, static_cast<TimeNs>(i), static_cast<double>(i));
  }
  const auto shard = ShardOf(log);
  ASSERT_EQ(shard.counters.size(), kValues);
  EXPECT_EQ(shard.counters.capacity(), kValues);
  for (size_t i = 0; i < kValues; ++i) {
    ASSERT_EQ(shard.counters[i].value, static_cast<double>(i));
  }
  EXPECT_EQ(shard.ledger.Get(model::Loss::kCounterValuesDropped), 2u);
  EXPECT_TRUE(ShardOf(log).counters.empty());
}

}  // namespace
}  // namespace kymo::host
