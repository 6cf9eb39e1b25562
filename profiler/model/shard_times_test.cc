#include "profiler/model/shard_times.h"

#include <gtest/gtest.h>

namespace kymo::model {
namespace {

TEST(ShardTimesTest, AShardWithoutTimesHasNone) {
  EXPECT_FALSE(TimesOf(TraceShard()).has_value());
}

TEST(ShardTimesTest, EventsCountersAndMemoryCount) {
  TraceShard shard;
  shard.block.start_ns.push_back(500);
  shard.block.end_ns.push_back(0);
  EXPECT_EQ(TimesOf(shard)->first_ns, 500);
  EXPECT_EQ(TimesOf(shard)->last_ns, 500) << "it is open";
  shard.counters.push_back({.time_ns = 300});
  EXPECT_EQ(TimesOf(shard)->first_ns, 300);
  shard.memory.push_back({.time_ns = 900});
  EXPECT_EQ(TimesOf(shard)->last_ns, 900);
  TrackEvents& events = shard.events.emplace_back();
  events.start_ns.push_back(100);
  events.end_ns.push_back(1'000);
  EXPECT_EQ(TimesOf(shard)->first_ns, 100);
  EXPECT_EQ(TimesOf(shard)->last_ns, 1'000);
}

TEST(ShardTimesTest, CountsWhatIsOutsideOfAWindow) {
  TraceShard shard;
  for (const TimeNs t : {99, 100, 200, 201}) {
    shard.block.start_ns.push_back(t);
    // An end may be later: the range was open at the end of the window.
    shard.block.end_ns.push_back(1'000);
    shard.events.emplace_back().start_ns.push_back(t);
    shard.counters.push_back({.time_ns = t});
    shard.memory.push_back({.time_ns = t});
    shard.samples.push_back({.time_ns = t});
  }
  EXPECT_EQ(RecordsOutside(shard, 100, 200), 5 * 2);
  EXPECT_EQ(RecordsOutside(shard, 99, 201), 0);
  EXPECT_EQ(RecordsOutside(TraceShard(), 100, 200), 0);
}

}  // namespace
}  // namespace kymo::model
