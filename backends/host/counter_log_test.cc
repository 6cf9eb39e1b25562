#include "backends/host/counter_log.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "backends/host/file_reader.h"
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

TEST(FileReaderTest, ReadsWholeTextsOfAnySize) {
  const ProcFolder folder;
  FileReader reader;
  const std::string path = folder.paths().proc + "/text";
  for (const size_t size : {0, 1, 4'095, 4'096, 8'191, 8'192, 8'193, 100'000}) {
    std::string text(size, 'x');
    if (size != 0) text.back() = 'y';
    folder.Write("proc/text", text);
    EXPECT_EQ(reader.Read(path, "text"), text) << size;
  }
  // A shorter text does not show the rest of a longer one.
  folder.Write("proc/text", "short");
  EXPECT_EQ(reader.Read(path, "text"), "short");
  EXPECT_TRUE(reader.unreadable().empty());
}

TEST(FileReaderTest, TextsBeyondEightMebibytesAreCut) {
  const ProcFolder folder;
  FileReader reader;
  constexpr size_t kMost = 8 << 20;
  folder.Write("proc/text", std::string(2 * kMost + 100'000, 'x'));
  const auto text = reader.Read(folder.paths().proc + "/text", "text");
  ASSERT_TRUE(text.has_value());
  EXPECT_GE(text->size(), kMost);
  EXPECT_LE(text->size(), 2 * kMost + 8'192);
}

TEST(FileReaderTest, WhatCannotBeReadIsKeptWithItsFirstReason) {
  const ProcFolder folder;
  FileReader reader;
  const std::string proc = folder.paths().proc;
  folder.Write("proc/folder/file", "");
  EXPECT_EQ(reader.Read(proc + "/none", "one"), std::nullopt);
  EXPECT_TRUE(reader.was_absent());
  EXPECT_EQ(reader.Read(proc + "/folder", "one"), std::nullopt);
  EXPECT_FALSE(reader.was_absent());
  const auto normal = FileReader::Absent::kIsNormal;
  EXPECT_EQ(reader.Read(proc + "/none", "two", normal), std::nullopt);
  EXPECT_TRUE(reader.was_absent());
  EXPECT_EQ(reader.Read(proc + "/folder", "three", normal), std::nullopt);
  EXPECT_EQ(reader.unreadable(),
            (std::map<std::string, int>{{"one", ENOENT}, {"three", EISDIR}}));
  EXPECT_EQ(reader.Read(proc + "/folder/file", "four"), "");
  EXPECT_FALSE(reader.was_absent());
}

}  // namespace
}  // namespace kymo::host
