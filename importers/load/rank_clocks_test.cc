// Long, because each case plants the clocks of several ranks.
#include "importers/load/rank_clocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kymo {
namespace {

using ::testing::ElementsAre;
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
  using Args = std::initializer_list<std::pair<std::string_view, int64_t>>;

  void Add(std::string_view name, TimeNs time, const Args& args) {
    AddEvent(name, time, time, model::kEventInstant, args);
  }
  void Call(std::string_view name, TimeNs begin, TimeNs end, const Args& args,
            uint8_t flags = 0) {
    AddEvent(name, begin, end, flags, args);
  }
  void AddEvent(std::string_view name, TimeNs begin_ns, TimeNs end_ns,
                uint8_t flags, const Args& args) {
    const auto begin = static_cast<uint32_t>(shard_.args.size());
    for (const auto& [key, value] : args) {
      shard_.args.push_back(model::Arg::Int(shard_.strings.Intern(key), value));
    }
    model::TrackEvents& events = shard_.events.front();
    events.start_ns.push_back(begin_ns);
    events.end_ns.push_back(end_ns);
    events.name.push_back(shard_.strings.Intern(name));
    events.type.push_back(model::ActivityType::kCpuOp);
    events.scope.push_back(model::RecordScope::kFunction);
    events.flags.push_back(flags);
    events.detail.push_back(
        static_cast<model::DetailIndex>(shard_.details.size()));
    shard_.details.push_back(
        {.args_begin = begin,
         .args_end = static_cast<uint32_t>(shard_.args.size())});
  }
  // Its metadata alone says of which rank it is.
  static RankShard Told(std::string_view info) {
    RankShard shard(0);
    shard.shard_.events = {};
    shard.shard_.metadata.push_back(
        {shard.shard_.strings.Intern("distributedInfo"),
         shard.shard_.strings.Intern(info)});
    shard.SetWindow(100, 200);
    return shard;
  }
  void SetHost(std::string_view host) {
    shard_.args.push_back(model::Arg::String(shard_.strings.Intern("host"),
                                             shard_.strings.Intern(host)));
    ++shard_.details.front().args_end;
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

TEST(RankClocksTest, ImpossibleMeasurementsAreNone) {
  constexpr TimeNs kIn2026 = 1'795'000'000'000'000'000;
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  for (const int64_t offset : {kLeast, -(kLeast + 1), int64_t{7}}) {
    RankShard zero(0);
    zero.Clock(kIn2026, 1'000, 0);
    RankShard one(1);
    one.Clock(kIn2026, 1'000, offset);
    const RankFile files[] = {zero.File(), one.File()};
    AlignRanks(files);
    const bool may_be = offset == 7;
    EXPECT_EQ(one.TimeOf(1), may_be ? kIn2026 + 7 : kIn2026);
    ASSERT_EQ(one.findings().size(), may_be ? 0u : 1u);
    if (may_be) continue;
    EXPECT_EQ(one.findings()[0].rule, "rank_clock_unknown");
  }
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

// Both ranks are on one machine. What the offsets differ by is uncertainty, and
// no drift that would go on before the first measurement.
TEST(RankClocksTest, UncertainOffsetsAreNoDrift) {
  RankShard zero(0);
  zero.Clock(1'000'000, 1'000'000, 0);
  zero.Clock(1'001'000, 1'001'000, 0);
  RankShard one(1);
  one.Clock(1'000'000, 1'000'000, 3);
  one.Clock(1'001'000, 1'001'002, -3);  // both are +- 3
  one.Add("before", 500'000, {});
  const RankFile files[] = {zero.File(), one.File()};
  AlignRanks(files);
  EXPECT_EQ(one.TimeOf(3), 500'001);
}

// The second measurement's thread did not run for 6 ms between its looks at the
// two clocks.
TEST(RankClocksTest, NoClockDriftsBySixMillisecondsInFifty) {
  RankShard zero(0);
  zero.Clock(1'000'000'000, 1'000'000'000, 0);
  zero.Clock(1'050'000'000, 1'050'000'000, 0);
  RankShard one(1);
  one.Clock(1'000'000'000, 1'000'000'000, 0);
  one.Clock(1'056'000'000, 1'050'000'000, 0);
  one.Add("before", 1'000, {});
  const RankFile files[] = {zero.File(), one.File()};
  AlignRanks(files);
  EXPECT_EQ(one.TimeOf(3), 1'000);
}

TEST(RankClocksTest, AClockThatJumpedIsSaid) {
  RankShard zero(0);
  zero.Clock(1'000, 1'000, 0);
  zero.Clock(2'001'000, 2'001'000, 0);
  RankShard drifts(1);
  drifts.Clock(1'000, 1'000, 0);
  drifts.Clock(2'001'000, 2'001'000, 1'006);  // 500 ppm, and the bounds
  RankShard jumps(2);
  jumps.Clock(1'000, 1'000, 0);
  jumps.Clock(2'001'000, 2'001'000, -1'007);
  const RankFile files[] = {zero.File(), drifts.File(), jumps.File()};
  AlignRanks(files);
  EXPECT_THAT(zero.findings(), IsEmpty());
  EXPECT_THAT(drifts.findings(), IsEmpty());
  ASSERT_THAT(jumps.findings(), SizeIs(1));
  EXPECT_EQ(jumps.findings()[0].rule, "rank_clock_jumped");
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

TEST(RankClocksTest, OfARankAloneInMpiTheCommandKnowsTheNumber) {
  RankShard alone(0);
  alone.Clock(1'000, 100, 0);
  alone.Add("job rank", 40, {{"rank", 2}, {"size", 3}});
  alone.Add("job clock", 50, {{"mono_ns", 50}, {"offset_ns", 7}});
  const auto clock = FindRankClock(alone.File().shards);
  EXPECT_EQ(clock->rank, 2);
  EXPECT_EQ(clock->points.at(0).offset_ns, 7);
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

// "name begin-end" of each event.
std::vector<std::string> Drawn(const std::vector<model::TraceShard>& shards) {
  std::vector<std::string> drawn;
  for (const model::TraceShard& shard : shards) {
    const model::TrackEvents& events = shard.events.front();
    for (size_t i = 0; i < events.size(); ++i) {
      drawn.push_back(std::string(shard.strings.Get(events.name[i])) + " " +
                      std::to_string(events.start_ns[i]) + "-" +
                      std::to_string(events.end_ns[i]));
    }
  }
  return drawn;
}

TEST(RankClocksTest, MessagesTellWhereNothingWasMeasured) {
  RankShard zero(0);
  zero.Call("MPI_Send", 100, 110, {{"comm", 0}, {"to", 1}, {"tag", 5}});
  zero.Call("MPI_Irecv", 105, 106, {{"comm", 0}, {"from", 1}, {"tag", 6}});
  zero.Call("MPI_Irecv", 106, 230, {{"comm", 0}, {"from", 1}, {"tag", 6}},
            model::kEventAsync);
  // Its clock is 10,000 ahead.
  RankShard one(1);
  one.Call("MPI_Recv", 10'090, 10'150, {{"comm", 0}, {"from", 0}, {"tag", 5}});
  one.Call("MPI_Send", 10'200, 10'210, {{"comm", 0}, {"to", 0}, {"tag", 6}});
  one.SetWindow(10'010, 10'400);
  const RankFile files[] = {zero.File(), one.File()};
  const std::vector<model::TraceShard> drawn = AlignRanks(files);
  // From -10,050 (received after it was sent) to -9,970.
  EXPECT_EQ(one.TimeOf(1), 80);
  EXPECT_EQ(one.start_ns(), 0);
  ASSERT_THAT(one.findings(), SizeIs(1));
  EXPECT_EQ(one.findings()[0].rule, "rank_clock_by_messages");
  EXPECT_THAT(zero.findings(), IsEmpty());
  EXPECT_EQ(zero.TimeOf(1), 100);
  EXPECT_THAT(Drawn(drawn), ElementsAre("MPI clock 50-50", "MPI clock 0-0",
                                        "clock +- 0.040 us 0-80"));
  EXPECT_EQ(drawn[1].tracks.front().pid, 2);
}

// The first message was too long; the second one is read after the third.
TEST(RankClocksTest, MessagesTellWhateverBecameOfThem) {
  RankShard zero(0);
  for (const TimeNs time : {100, 200, 300}) {
    zero.Call("MPI_Send", time, time + 5, {{"comm", 0}, {"to", 1}, {"tag", 5}});
  }
  zero.Call("MPI_Recv", 400, 480, {{"comm", 0}, {"from", 1}, {"tag", 6}});
  RankShard one(1);
  one.Call("MPI_Recv", 10'090, 10'150,
           {{"comm", 0}, {"from", 0}, {"tag", 5}, {"failed", 15}});
  one.Add("MPI_Improbe", 10'210, {{"message", 0}});
  one.Call("MPI_Recv", 10'220, 10'340, {{"comm", 0}, {"from", 0}, {"tag", 5}});
  one.Call("MPI_Mrecv", 10'350, 10'360,
           {{"comm", 0}, {"from", 0}, {"tag", 5}, {"message", 0}});
  one.Call("MPI_Send", 10'400, 10'405, {{"comm", 0}, {"to", 0}, {"tag", 6}});
  const RankFile files[] = {zero.File(), one.File()};
  AlignRanks(files);
  EXPECT_EQ(one.TimeOf(1), 10'090 - 9'980);  // -10,040 to -9,920
}

TEST(RankClocksTest, RanksThatNeverMetAreTiedByOthersAndByBarriers) {
  // Rank 0 is measured. Rank 2's messages go to rank 1, and both ranks 0 and 1
  // were in a barrier.
  RankShard zero(0);
  zero.Clock(1'000, 100, 0);
  zero.Call("MPI_Barrier", 2'000, 2'100, {{"comm", 0}});
  RankShard one(1);
  one.Call("MPI_Barrier", 7'050, 7'110, {{"comm", 0}});
  one.Call("MPI_Sendrecv", 7'200, 7'260,
           {{"comm", 3}, {"to", 2}, {"tag", 1}, {"from", 2}, {"from_tag", 4}});
  RankShard two(2);
  two.Call("MPI_Sendrecv", 200, 260,
           {{"comm", 3}, {"to", 1}, {"tag", 4}, {"from", 1}, {"from_tag", 1}});
  const RankFile files[] = {two.File(), one.File(), zero.File()};
  AlignRanks(files);
  EXPECT_EQ(zero.TimeOf(2), 2'000);
  EXPECT_EQ(one.TimeOf(1), 2'020);  // -5,110 to -4,950
  EXPECT_EQ(two.TimeOf(1), one.TimeOf(2));
}

TEST(RankClocksTest, RanksOfOneHostMoveTogether) {
  const auto add_calls = [](RankShard& zero, RankShard& one, TimeNs ahead) {
    zero.Call("MPI_Send", 100, 110, {{"comm", 0}, {"to", 1}, {"tag", 5}});
    zero.Call("MPI_Recv", 200, 290, {{"comm", 0}, {"from", 1}, {"tag", 6}});
    one.Call("MPI_Recv", ahead + 90, ahead + 110,
             {{"comm", 0}, {"from", 0}, {"tag", 5}});
    one.Call("MPI_Send", ahead + 220, ahead + 230,
             {{"comm", 0}, {"to", 0}, {"tag", 6}});
  };
  for (const TimeNs ahead : {0, 10'000}) {
    RankShard zero(0);
    RankShard one(1);
    for (RankShard* const rank : {&zero, &one}) rank->SetHost("node");
    add_calls(zero, one, ahead);
    const RankFile files[] = {zero.File(), one.File()};
    const std::vector<model::TraceShard> drawn = AlignRanks(files);
    // Added is from -10 to 70. With clocks of their own, it is the middle.
    EXPECT_EQ(one.TimeOf(1), ahead == 0 ? 90 : 90 + 30);
    EXPECT_EQ(Drawn(drawn)[2].substr(0, 18),
              ahead == 0 ? "clock +- 0.070 us " : "clock +- 0.040 us ");
  }
}

TEST(RankClocksTest, MessagesThatContradictTellNothing) {
  RankShard zero(0);
  RankShard one(1);
  // Its clock is ahead by 10,000, and later by 20,000.
  for (const TimeNs later : {0, 10'000}) {
    const TimeNs now = 100 + later;
    zero.Call("MPI_Send", now, now + 5, {{"comm", 0}, {"to", 1}, {"tag", 5}});
    zero.Call("MPI_Recv", now + 50, now + 90,
              {{"comm", 0}, {"from", 1}, {"tag", 6}});
    one.Call("MPI_Recv", now + 10'000 + later, now + 10'040 + later,
             {{"comm", 0}, {"from", 0}, {"tag", 5}});
    one.Call("MPI_Send", now + 10'045 + later, now + 10'050 + later,
             {{"comm", 0}, {"to", 0}, {"tag", 6}});
  }
  const RankFile files[] = {zero.File(), one.File()};
  EXPECT_THAT(Drawn(AlignRanks(files)),
              ElementsAre("clock not measured 50-10190",
                          "clock not measured 50-30150"));
  EXPECT_EQ(one.TimeOf(1), 10'100);
  ASSERT_THAT(one.findings(), SizeIs(1));
  EXPECT_EQ(one.findings()[0].rule, "rank_clock_unknown");
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

// The traces of PyTorch.
TEST(RankClocksTest, MetadataTellsRanks) {
  RankShard zero = RankShard::Told(R"({"rank": 0, "world_size": 2})");
  RankShard one = RankShard::Told(R"({"rank": 1, "world_size": 2})");
  const RankFile files[] = {zero.File(), one.File()};
  const std::vector<model::TraceShard> drawn = AlignRanks(files);
  ASSERT_THAT(drawn, SizeIs(2));
  EXPECT_EQ(FindRankClock({&drawn[1], 1})->rank, 1);
  const model::TrackEvents& events = drawn[1].events.front();
  EXPECT_THAT(events.start_ns, ElementsAre(100, 200, 100));
  EXPECT_EQ(drawn[1].strings.Get(events.name[2]), "clock not measured");
  ASSERT_THAT(one.findings(), SizeIs(1));
  EXPECT_EQ(one.findings()[0].rule, "rank_clock_unknown");
}

TEST(RankClocksTest, SeveralFilesOfOneRankAreNoJob) {
  const std::string_view info = R"({"rank": 1, "world_size": 2})";
  RankShard one = RankShard::Told(info);
  RankShard again = RankShard::Told(info);
  RankShard zero = RankShard::Told(R"({"rank": 0, "world_size": 2})");
  const RankFile files[] = {one.File(), again.File(), zero.File()};
  EXPECT_THAT(AlignRanks(files), IsEmpty());
  // A job of one rank has nobody to wait for.
  RankShard alone = RankShard::Told(R"({"rank": 0, "world_size": 1})");
  const RankFile others[] = {alone.File(), one.File()};
  EXPECT_THAT(AlignRanks(others), IsEmpty());
}

}  // namespace
}  // namespace kymo
