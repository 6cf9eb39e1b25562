#include "importers/load/rank_clocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>
#include <utility>

namespace kymo {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// A shard of one rank with instants, whose clock is `ahead` of the file's
// times.
class RankShard {
 public:
  explicit RankShard(int64_t rank) {
    shard_.tracks.push_back({.pid = rank + 1, .id = 1});
    shard_.events.emplace_back();
    Add("MPI ranks", 50, {{"rank", rank}});
  }
  void Clock(TimeNs time, int64_t mono, int64_t offset) {
    Add("MPI clock", time,
        {{"mono_ns", mono}, {"offset_ns", offset}, {"bound_ns", 3}});
  }
  void Add(std::string_view name, TimeNs time,
           std::initializer_list<std::pair<std::string_view, int64_t>> args) {
    const auto begin = static_cast<uint32_t>(shard_.args.size());
    for (const auto& [key, value] : args) {
      shard_.args.push_back(model::Arg::Int(shard_.strings.Intern(key), value));
    }
    model::TrackEvents& events = shard_.events.front();
    events.start_ns.push_back(time);
    events.end_ns.push_back(time);
    events.name.push_back(shard_.strings.Intern(name));
    events.type.push_back(model::ActivityType::kCpuInstantEvent);
    events.scope.push_back(model::RecordScope::kFunction);
    events.flags.push_back(model::kEventInstant);
    events.detail.push_back(
        static_cast<model::DetailIndex>(shard_.details.size()));
    shard_.details.push_back(
        {.args_begin = begin,
         .args_end = static_cast<uint32_t>(shard_.args.size())});
  }
  TimeNs TimeOf(size_t event) const {
    return shard_.events.front().start_ns[event];
  }
  RankFile File() {
    return {.shards = {&shard_, 1},
            .findings = &findings_,
            .start_ns = &start_ns_,
            .end_ns = &end_ns_};
  }
  const std::vector<ImportFinding>& findings() const { return findings_; }
  TimeNs start_ns() const { return start_ns_; }
  void SetWindow(TimeNs start, TimeNs end) { start_ns_ = start, end_ns_ = end; }

 private:
  model::TraceShard shard_;
  std::vector<ImportFinding> findings_;
  TimeNs start_ns_ = 0;
  TimeNs end_ns_ = 0;
};

TEST(RankClocksTest, AnOffsetIsTakenAway) {
  RankShard zero(0);
  zero.Clock(1'000, 100, 0);
  // Its wall clock is 5,000 ahead of rank 0's, its monotonic one 70.
  RankShard one(1);
  one.Clock(6'000, 170, -70);
  one.Add("here", 6'500, {});
  one.SetWindow(5'500, 7'000);
  const RankFile files[] = {zero.File(), one.File()};
  AlignRanks(files);
  EXPECT_EQ(zero.TimeOf(0), 50);
  EXPECT_EQ(one.TimeOf(1), 1'000);
  EXPECT_EQ(one.TimeOf(2), 1'500);
  EXPECT_EQ(one.start_ns(), 500);
  EXPECT_THAT(one.findings(), IsEmpty());
}

TEST(RankClocksTest, BetweenTwoMeasurementsTheClockDriftsAlongALine) {
  RankShard zero(0);
  zero.Clock(0 + 1'000, 1'000, 0);
  zero.Clock(2'001'000, 2'001'000, 0);
  RankShard one(1);
  one.Clock(1'000, 1'000, 0);
  one.Clock(2'001'000, 2'001'000, 200);  // it lost 200 ns in 2 ms
  one.Add("half", 1'001'000, {});
  const RankFile files[] = {zero.File(), one.File()};
  AlignRanks(files);
  EXPECT_EQ(one.TimeOf(2), 2'001'200);
  EXPECT_EQ(one.TimeOf(3), 1'001'100);
}

TEST(RankClocksTest, TheReferenceDriftsAgainstRankZeroToo) {
  RankShard one(1);
  one.Clock(1'000, 1'000, 0);
  one.Clock(2'001'000, 2'001'000, 200);
  RankShard two(2);
  two.Clock(1'000, 1'000, 0);
  two.Clock(2'001'000, 2'001'000, 200);
  two.Add("half", 1'001'000, {});
  const RankFile files[] = {two.File(), one.File()};
  AlignRanks(files);
  // Both drift alike, so nothing moves, but by a rounding.
  EXPECT_NEAR(two.TimeOf(3), 1'001'000, 1);
  EXPECT_EQ(one.TimeOf(2), 2'001'000);
}

// Of ranks without MPI, the command says so; of others, MPI knows it better.
TEST(RankClocksTest, ClocksThatTheCommandMeasuredCountWhereMpiHasNone) {
  RankShard zero(0);
  zero.Clock(1'000, 100, 0);
  RankShard one(1);
  one.Add("job rank", 50, {{"rank", 1}});
  one.Add("job clock", 6'000, {{"mono_ns", 170}, {"offset_ns", -70}});
  RankShard two(2);
  two.Clock(6'000, 170, -70);
  two.Add("job clock", 6'000, {{"mono_ns", 170}, {"offset_ns", 5'000}});
  const RankFile files[] = {zero.File(), one.File(), two.File()};
  AlignRanks(files);
  EXPECT_EQ(one.TimeOf(2), 1'000);
  EXPECT_EQ(two.TimeOf(1), 1'000);
  EXPECT_EQ(two.TimeOf(2), 1'000);
}

TEST(RankClocksTest, ARankWithoutAClockStaysAndSaysSo) {
  RankShard zero(0);
  zero.Clock(1'000, 100, 0);
  RankShard one(1);
  one.Add("here", 6'500, {});
  const RankFile files[] = {zero.File(), one.File()};
  AlignRanks(files);
  EXPECT_EQ(one.TimeOf(1), 6'500);
  ASSERT_THAT(one.findings(), SizeIs(1));
  EXPECT_EQ(one.findings()[0].rule, "rank_clock_unknown");
  EXPECT_THAT(zero.findings(), IsEmpty());
}

TEST(RankClocksTest, FilesOfNoRankStay) {
  RankShard zero(0);
  zero.Clock(1'000, 100, 0);
  model::TraceShard other;
  std::vector<ImportFinding> findings;
  TimeNs start = 5;
  TimeNs end = 6;
  const RankFile files[] = {zero.File(),
                            {.shards = {&other, 1},
                             .findings = &findings,
                             .start_ns = &start,
                             .end_ns = &end}};
  AlignRanks(files);
  EXPECT_EQ(start, 5);
  EXPECT_THAT(findings, IsEmpty());
}

}  // namespace
}  // namespace kymo
