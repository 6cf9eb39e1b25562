#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/folded_changes.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/join_neighbours.h"
#include "profiler/model/lanes.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/shadowed_args.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"
#include "profiler/model/trace.h"

namespace kymo::model {
namespace {

TEST(StringTableTest, InternsToDenseIdsAndKeepsEveryByte) {
  StringTable strings;
  EXPECT_EQ(strings.Intern(""), kEmptyName);
  std::vector<NameId> ids;
  for (int i = 0; i < 10000; ++i) {
    ids.push_back(strings.Intern("name" + std::to_string(i)));
    EXPECT_EQ(Index(ids.back()), i + 1);
  }
  const StringTable moved = std::move(strings);
  for (int i = 0; i < 10000; ++i) {
    EXPECT_EQ(moved.Get(ids[i]), "name" + std::to_string(i));
  }
  EXPECT_EQ(moved.Find("name77"), ids[77]);
  EXPECT_EQ(moved.Find("none"), std::nullopt);
}

TEST(StringTableTest, KeepsZeroBytesAndLongNames) {
  StringTable strings;
  const std::string odd("a\0b", 3);
  const std::string longer(1 << 20, 'x');
  EXPECT_EQ(strings.Get(strings.Intern(odd)), odd);
  EXPECT_EQ(strings.Get(strings.Intern(longer)), longer);
  EXPECT_NE(strings.Intern("a"), strings.Intern(odd));
}

TEST(FoldedChangesTest, ChangesComeBackAsTheyWere) {
  FoldedChanges changes;
  EXPECT_TRUE(changes.empty());
  std::vector<FoldedChange> expected;
  uint32_t random = 1;
  TimeNs time_ns = 1'700'000'000'000'000'000;
  for (int i = 0; i < 10'000; ++i) {
    random = random * 1664525 + 1013904223;
    time_ns += (random >> 20) % 3 == 0 ? 0 : TimeNs{1} << (random >> 27);
    const int64_t bytes = (int64_t{1} << (random >> 22) % 60) - 1;
    const auto kind = static_cast<FoldedChangeKind>((random >> 12) % 3);
    expected.push_back({time_ns,
                        kind == FoldedChangeKind::kAllocation ? bytes : -bytes,
                        kind});
    changes.Add(expected.back());
  }
  std::vector<FoldedChange> read;
  changes.ForEach([&](const FoldedChange& change) { read.push_back(change); });
  EXPECT_EQ(read, expected);
}

TEST(FoldedChangesTest, AnOrdinaryChangeTakesThreeBytes) {
  FoldedChanges changes;
  for (int i = 0; i < 1'000; ++i) {
    changes.Add({.time_ns = i * 100, .bytes = 64});
  }
  EXPECT_LE(changes.size_bytes(), 3'000u);
}

TEST(FoldedStacksTest, NumbersOfAnySizeComeBackAsTheyWere) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kHalf = int64_t{1} << 31;
  FoldedStacks stacks;
  std::vector<FoldedStack> expected;
  for (const int64_t n : {int64_t{0}, int64_t{1}, kHalf - 1, kHalf, -kHalf + 1,
                          -kHalf, -kHalf - 1, kMost, -kMost - 1}) {
    expected.push_back({.stack = StackId{7}, .allocated = {1, n}});
    expected.push_back({.track = 3, .at_peak = {n, -1}});
    expected.push_back({.temporary = {n, 2}, .alive = {3, n}});
  }
  for (const FoldedStack& stack : expected) stacks.push_back(stack);
  EXPECT_EQ(std::vector(stacks.begin(), stacks.end()), expected);
  std::ranges::reverse(expected);
  for (size_t i = 0; i < expected.size(); ++i) stacks.Set(i, expected[i]);
  EXPECT_EQ(std::vector(stacks.begin(), stacks.end()), expected);
}

TEST(FoldedStacksTest, EqualPlacesAreJoined) {
  constexpr int64_t kLarge = int64_t{1} << 31;
  FoldedStacks stacks = {{.track = 1, .stack = StackId{2}, .allocated = {1, 8}},
                         {.stack = StackId{5}, .alive = {2, kLarge - 1}},
                         {.track = 1, .stack = StackId{2}, .at_peak = {3, 4}},
                         {.stack = StackId{5}, .alive = {1, 1}},
                         {.stack = StackId{3}, .temporary = {kLarge, kLarge}}};
  stacks.SortAndJoin();
  const std::vector<FoldedStack> expected = {
      {.stack = StackId{3}, .temporary = {kLarge, kLarge}},
      {.stack = StackId{5}, .alive = {3, kLarge}},
      {.track = 1,
       .stack = StackId{2},
       .allocated = {1, 8},
       .at_peak = {3, 4}}};
  EXPECT_EQ(std::vector(stacks.begin(), stacks.end()), expected);
}

TEST(LossLedgerTest, NotesAreNoLoss) {
  LossLedger ledger;
  ledger.Add(Loss::kRangesOpenAtEnd, 3);
  EXPECT_FALSE(ledger.AnythingLost());
  LossLedger other;
  other.Add(Loss::kSamplesLost, 2);
  ledger.Merge(other);
  EXPECT_TRUE(ledger.AnythingLost());
  EXPECT_EQ(ledger.Get(Loss::kSamplesLost), 2);
  for (int i = 0; i < static_cast<int>(Loss::kCount); ++i) {
    EXPECT_FALSE(LossName(static_cast<Loss>(i)).empty());
    EXPECT_FALSE(LossMeaning(static_cast<Loss>(i)).empty());
  }
}

TEST(LossLedgerTest, CountersOfBackendsAreNamedBehindTheirSum) {
  LossLedger ledger;
  ledger.AddOfBackend("my_net", "packets dropped (dropped)", 2);
  LossLedger other;
  other.AddOfBackend("my_net", "packets dropped (dropped)", 1);
  other.AddOfBackend("ticks", "ticks too late (missed)", 4);
  ledger.Merge(other);
  EXPECT_TRUE(ledger.AnythingLost());
  EXPECT_EQ(ledger.Get(Loss::kBackendRecordsLost), 7);
  EXPECT_EQ(LossText(ledger, Loss::kBackendRecordsLost),
            "records that a backend could not keep: of my_net, 3 packets "
            "dropped (dropped); of ticks, 4 ticks too late (missed)");
  EXPECT_EQ(LossText(ledger, Loss::kSamplesLost),
            LossMeaning(Loss::kSamplesLost));
  // A backend may say any number.
  ledger.AddOfBackend("ticks", "ticks too late (missed)", ~uint64_t{0});
  ledger.AddOfBackend("ticks", "ticks too late (missed)", 1);
  EXPECT_EQ(ledger.Get(Loss::kBackendRecordsLost), ~uint64_t{0});
}

TEST(LossLedgerTest, AbsentRanksAreNamedWithTheReason) {
  LossLedger ledger;
  ledger.AddPart({Loss::kRanksAbsent, "ranks 3-4, 7", "they were killed"}, 3);
  ledger.AddOfBackend("ticks", "ticks too late (missed)", 1);
  EXPECT_EQ(ledger.Get(Loss::kRanksAbsent), 3);
  EXPECT_EQ(LossText(ledger, Loss::kRanksAbsent),
            "ranks of the job whose trace is missing: ranks 3-4, 7, because "
            "they were killed");
}

TEST(LossLedgerTest, OnlyTheSamplerThatMissedSamplesIsNamed) {
  LossLedger ledger;
  ledger.AddPart({Loss::kSamplesNotDelivered, "timer", "timers miss much"}, 3);
  EXPECT_EQ(ledger.Get(Loss::kSamplesNotDelivered), 3);
  EXPECT_EQ(LossText(ledger, Loss::kSamplesNotDelivered),
            "samples that did not come, although threads ran: timers miss "
            "much");
}

TEST(ActivityTypeTest, NamesRoundTrip) {
  for (int i = 0; i < static_cast<int>(ActivityType::kCount); ++i) {
    const ActivityType type = static_cast<ActivityType>(i);
    EXPECT_EQ(ParseActivityType(ActivityTypeName(type)), type);
  }
  EXPECT_EQ(ParseActivityType("nonsense"), std::nullopt);
}

TEST(LanesTest, ShareKindProcessIdAndDevice) {
  const Track stream = {
      .kind = TrackKind::kStream, .pid = 1, .id = 7, .device_index = 0};
  Track lane = stream;
  lane.name = NameId{3};
  EXPECT_TRUE(IsLaneOf(lane, stream));
  const auto differs = [&](auto change) {
    Track other = stream;
    change(other);
    return !IsLaneOf(other, stream);
  };
  EXPECT_TRUE(differs([](Track& t) { t.kind = TrackKind::kThread; }));
  EXPECT_TRUE(differs([](Track& t) { t.pid = 2; }));
  EXPECT_TRUE(differs([](Track& t) { t.id = 8; }));
  EXPECT_TRUE(differs([](Track& t) { t.device_index = 1; }));
}

TEST(JoinNeighboursTest, ThoseOfOneKeyBecomeOne) {
  const auto joined = [](std::vector<std::pair<int, int>> values) {
    JoinNeighbours(
        values, [](const auto& value) { return value.first; },
        [](const auto& from, auto& into) { into.second += from.second; });
    return values;
  };
  using Pairs = std::vector<std::pair<int, int>>;
  EXPECT_EQ(joined({}), Pairs());
  EXPECT_EQ(joined({{1, 5}}), Pairs({{1, 5}}));
  EXPECT_EQ(joined({{1, 5}, {2, 6}, {2, 7}, {2, 8}, {1, 9}, {1, 1}}),
            Pairs({{1, 5}, {2, 21}, {1, 10}}));
}

std::vector<int64_t> LastArgs(std::span<const Arg> args) {
  std::vector<int64_t> values;
  ForEachLastArg(args,
                 [&](const Arg& arg) { values.push_back(arg.int_value()); });
  return values;
}

TEST(ShadowedArgsTest, LastOneOfAKeyCounts) {
  const Arg args[] = {Arg::Int(NameId{1}, 10), Arg::Int(NameId{2}, 20),
                      Arg::Int(NameId{1}, 30)};
  EXPECT_EQ(LastArgs(args), (std::vector<int64_t>{20, 30}));
  EXPECT_EQ(LastArgs({}), std::vector<int64_t>());
}

// If each were compared with all others, this would take minutes.
TEST(ShadowedArgsTest, AMillionArgumentsAreNoProblem) {
  constexpr uint32_t kCount = 1'000'000;
  std::vector<Arg> args = {Arg::Int(NameId{kCount}, -1)};
  for (uint32_t i = 1; i <= kCount; ++i) {
    args.push_back(Arg::Int(NameId{i}, i));
  }
  const std::vector<int64_t> values = LastArgs(args);
  ASSERT_EQ(values.size(), kCount);
  EXPECT_EQ(values.front(), 1);
  EXPECT_EQ(values.back(), kCount);
}

}  // namespace
}  // namespace kymo::model
