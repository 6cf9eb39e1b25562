#include "importers/sqlite/shard_rows.h"

#include <limits>
#include <utility>

#include "gtest/gtest.h"
#include "profiler/model/records.h"

namespace kymo::sqlite {
namespace {

using model::ActivityType;

TEST(ShardRowsTest, SortsByStartAndParentsFirst) {
  ShardRows rows;
  const auto stream = rows.Stream(7, 0, 13);
  const auto name = rows.Intern("copy");
  const auto add = [&](TimeNs start, std::optional<TimeNs> end) {
    EXPECT_TRUE(rows.Add(stream, {.start_ns = start,
                                  .end_ns = end,
                                  .name = name,
                                  .type = ActivityType::kGpuMemcpy}));
  };
  add(50, 60);
  rows.BeginDetail(42);
  rows.AddArg("bytes", int64_t{4096});
  add(10, 30);
  add(10, 40);
  add(10, std::nullopt);
  const ImportedTrace imported = std::move(rows).Finish();
  ASSERT_EQ(imported.shards.size(), 1u);
  const model::TraceShard& shard = imported.shards[0];
  ASSERT_EQ(shard.events.size(), 1u);
  const model::TrackEvents& events = shard.events[0];
  EXPECT_EQ(std::vector<TimeNs>(events.start_ns.begin(), events.start_ns.end()),
            (std::vector<TimeNs>{10, 10, 10, 50}));
  EXPECT_EQ(std::vector<TimeNs>(events.end_ns.begin(), events.end_ns.end()),
            (std::vector<TimeNs>{0, 40, 30, 60}));
  ASSERT_NE(events.detail[2], model::kNoDetail);
  EXPECT_EQ(events.detail[1], model::kNoDetail);
  EXPECT_EQ(shard.details[events.detail[2]].correlation_id, 42u);
  EXPECT_EQ(imported.start_ns, 10);
  EXPECT_EQ(imported.end_ns, 60);
}

TEST(ShardRowsTest, TimesThatCannotBeAreLeftOutAndCounted) {
  constexpr TimeNs kMax = std::numeric_limits<TimeNs>::max();
  constexpr TimeNs kMin = std::numeric_limits<TimeNs>::min();
  ShardRows rows;
  rows.SetOffset(1000);
  const auto thread = rows.Thread(1, 1);
  for (const auto& [start, end] :
       {std::pair<TimeNs, TimeNs>{kMin, 5}, {5, kMax}, {-1001, 5}, {kMax, 1}}) {
    rows.BeginDetail(1);
    EXPECT_FALSE(rows.Add(thread, {.start_ns = start, .end_ns = end}));
  }
  EXPECT_FALSE(rows.Add(thread, {.end_ns = 5}));
  EXPECT_TRUE(rows.Add(thread, {.start_ns = -1000, .end_ns = 5}));
  const ImportedTrace imported = std::move(rows).Finish();
  EXPECT_EQ(imported.shards[0].ledger.Get(model::Loss::kImpossibleTimestamps),
            5u);
  ASSERT_EQ(imported.findings.size(), 1u);
  EXPECT_EQ(imported.findings[0].rule, "time_impossible");
  EXPECT_EQ(imported.findings[0].count, 5u);
  // The detail of the event that was left out belongs to no event.
  ASSERT_EQ(imported.shards[0].events[0].size(), 1u);
  EXPECT_EQ(imported.shards[0].events[0].detail[0], model::kNoDetail);
}

TEST(ShardRowsTest, NothingAddedIsAnEmptyShard) {
  const ImportedTrace imported = ShardRows().Finish();
  ASSERT_EQ(imported.shards.size(), 1u);
  EXPECT_TRUE(imported.shards[0].events.empty());
  EXPECT_EQ(imported.end_ns, 0);
}

}  // namespace
}  // namespace kymo::sqlite
