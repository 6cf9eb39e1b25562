#include "profiler/normalize/recorded_nesting.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/normalize/lanes.h"

namespace kymo::normalize {
namespace {

using model::EventColumns;
using model::EventIndex;

constexpr Window kWindow = {.start_ns = 1, .end_ns = 1'000'000};
constexpr EventIndex kFirst = 3;  // rows of other tracks before this one

void Add(EventColumns& events, TimeNs start, TimeNs end, uint32_t depth,
         uint8_t flags = 0) {
  events.start_ns.push_back(start);
  events.end_ns.push_back(end);
  events.name.push_back(model::NameId{depth % 3});
  events.type.push_back(model::ActivityType::kCpuOp);
  events.scope.push_back(model::RecordScope::kFunction);
  events.flags.push_back(flags);
  events.depth.push_back(depth);
}

const std::vector<model::NameId>& Names() {
  static const std::vector<model::NameId> names = {
      model::NameId{5}, model::NameId{6}, model::NameId{7}};
  return names;
}

TrackSource SourceOf(const EventColumns& events) {
  return TrackSource(events, 0, events.size(), Names(), 0);
}

// The trace's columns, from row kFirst on; empty if Join returned false.
struct Result {
  bool joined = false;
  std::vector<std::string> rows;
  uint64_t open = 0;
};

std::string Row(TimeNs start, TimeNs end, EventIndex parent, model::NameId name,
                uint8_t flags) {
  return std::to_string(start) + "-" + std::to_string(end) + " in " +
         (parent == model::kNoEvent ? "none" : std::to_string(parent)) +
         " name " + std::to_string(Index(name)) + " flags " +
         std::to_string(flags);
}

Result Nest(const EventColumns& events, size_t segment_rows,
            const Window& window = kWindow) {
  model::TraceData data;
  const size_t rows = kFirst + events.size();
  data.start.resize(rows);
  data.end.resize(rows);
  data.name.resize(rows);
  data.track.resize(rows);
  data.parent.resize(rows);
  data.detail.resize(rows);
  data.type.resize(rows);
  data.scope.resize(rows);
  data.flags.resize(rows);
  RecordedNesting nesting(SourceOf(events), window,
                          {.data = &data, .track = 4, .first = kFirst},
                          segment_rows);
  Result result;
  for (size_t i = 0; i < nesting.segment_count(); ++i) nesting.Copy(i);
  result.joined = nesting.Join();
  if (!result.joined) return result;
  for (size_t i = 0; i < nesting.segment_count(); ++i) nesting.Finish(i);
  for (size_t row = kFirst; row < rows; ++row) {
    EXPECT_EQ(data.track[row], 4u);
    EXPECT_EQ(data.detail[row], model::kNoDetail);
    const EventIndex parent = data.parent[row];
    result.rows.push_back(
        Row(data.start[row], data.end[row],
            parent == model::kNoEvent ? parent : parent - kFirst,
            data.name[row], data.flags[row]));
  }
  model::LossLedger ledger;
  nesting.AddLosses(ledger);
  result.open = ledger.Get(model::Loss::kRangesOpenAtEnd);
  return result;
}

// The result of nesting by lanes. `joined` is false if that needs a second
// lane, or drops or changes anything.
Result Reference(const EventColumns& events, const Window& window = kWindow) {
  model::LossLedger ledger;
  const std::vector<Lane> lanes = NestTrack({SourceOf(events)}, window, ledger);
  Result result;
  result.joined = lanes.size() == 1 && lanes[0].size() == events.size() &&
                  ledger.Get(model::Loss::kImpossibleTimestamps) == 0;
  const Lane& lane = lanes[0];
  for (size_t row = 0; row < lane.size(); ++row) {
    result.rows.push_back(Row(lane.start[row], lane.end[row], lane.parent[row],
                              lane.name[row], lane.flags[row]));
  }
  result.open = ledger.Get(model::Loss::kRangesOpenAtEnd);
  return result;
}

// A thread's calls as the recorder writes them, except that some records are
// missing.
class RandomThread {
 public:
  explicit RandomThread(uint32_t seed) : random_(seed) {}

  EventColumns Record(int events, int lost_in_a_thousand) {
    const uint32_t outside = random_() % 3;  // open before the recording
    for (int i = 0; i < events; ++i) {
      while (!open_.empty() && random_() % 2 != 0) Close();
      now_ += random_() % 3;
      const uint32_t depth = outside + static_cast<uint32_t>(open_.size());
      const bool is_lost =
          static_cast<int>(random_() % 1000) < lost_in_a_thousand;
      if (random_() % 10 == 0) {
        if (!is_lost) Add(events_, now_, now_, depth, model::kEventInstant);
        continue;
      }
      open_.push_back(is_lost ? kLost : events_.size());
      if (!is_lost) Add(events_, now_, 0, depth);
    }
    // The remaining ranges stay open.
    while (open_.size() > 2) Close();
    return std::move(events_);
  }

 private:
  static constexpr size_t kLost = ~size_t{0};

  void Close() {
    now_ += random_() % 3;
    if (open_.back() != kLost) events_.end_ns[open_.back()] = now_;
    open_.pop_back();
  }

  std::mt19937 random_;
  TimeNs now_ = 10;
  EventColumns events_;
  std::vector<size_t> open_;
};

TEST(RecordedNestingTest, ParentsAreOneLessDeep) {
  EventColumns events;
  Add(events, 10, 20, 0);
  Add(events, 11, 19, 1);
  Add(events, 12, 12, 2, model::kEventInstant);
  Add(events, 13, 14, 2);
  Add(events, 30, 40, 0);
  const Result result = Nest(events, 100);
  ASSERT_TRUE(result.joined);
  EXPECT_EQ(result.rows,
            (std::vector<std::string>{
                "10-20 in none name 5 flags 0", "11-19 in 0 name 6 flags 0",
                "12-12 in 1 name 7 flags 1", "13-14 in 1 name 7 flags 0",
                "30-40 in none name 5 flags 0"}));
}

TEST(RecordedNestingTest, AnyRecordingNestsAsByLanesWhateverTheSegments) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const EventColumns events = RandomThread(seed).Record(200, 0);
    const Result expected = Reference(events);
    ASSERT_TRUE(expected.joined) << seed;
    for (const size_t segment_rows : {1, 2, 7, 50, 1000}) {
      const Result result = Nest(events, segment_rows);
      ASSERT_TRUE(result.joined) << seed << " by " << segment_rows;
      EXPECT_EQ(result.rows, expected.rows) << seed << " by " << segment_rows;
      EXPECT_EQ(result.open, expected.open);
    }
  }
}

// If a range is missing, its children may seem to overlap a neighbour of that
// range.
TEST(RecordedNestingTest, MissingRecordsAreGapsOfDepth) {
  int joined = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const EventColumns events =
        RandomThread(seed).Record(200, /*lost_in_a_thousand=*/20);
    const Result result = Nest(events, 1 + seed % 50);
    if (!result.joined) continue;
    ++joined;
    EXPECT_EQ(result.rows, Reference(events).rows) << seed;
  }
  EXPECT_GT(joined, 50);
}

TEST(RecordedNestingTest, WhatItNestsOfAnyInputIsAsByLanes) {
  std::mt19937 random(1);
  int joined = 0;
  for (int round = 0; round < 20'000; ++round) {
    EventColumns events;
    TimeNs now = 1;
    const uint32_t rows = 1 + random() % 6;
    for (uint32_t row = 0; row < rows; ++row) {
      now += random() % 4;
      const uint32_t kind = random() % 12;
      const TimeNs end = kind == 0 ? 0 : now + random() % 8;
      const uint8_t flags = kind == 1   ? model::kEventAsync
                            : kind == 2 ? model::kEventInstant
                                        : 0;
      Add(events, now, kind == 2 ? now : end, random() % 4, flags);
    }
    const Window window = {
        .start_ns = 2,
        .end_ns = 14,
        .thread_end_ns = static_cast<TimeNs>(random() % 3 * 6)};
    const Result result = Nest(events, 1 + random() % 4, window);
    if (!result.joined) continue;
    ++joined;
    const Result expected = Reference(events, window);
    ASSERT_TRUE(expected.joined) << round;
    ASSERT_EQ(result.rows, expected.rows) << round;
    ASSERT_EQ(result.open, expected.open) << round;
  }
  EXPECT_GT(joined, 2'000);
}

TEST(RecordedNestingTest, SaysNoToWhatNeedsALane) {
  EventColumns overlapping;
  Add(overlapping, 10, 20, 0);
  Add(overlapping, 15, 25, 1);
  EXPECT_FALSE(Nest(overlapping, 10).joined);
  EXPECT_FALSE(Nest(overlapping, 1).joined);
  EventColumns asynchronous;
  Add(asynchronous, 10, 20, 0, model::kEventAsync);
  EXPECT_FALSE(Nest(asynchronous, 10).joined);
  EventColumns early;
  Add(early, 0, 20, 0);
  EXPECT_FALSE(Nest(early, 10).joined);
  EventColumns unsorted;
  Add(unsorted, 20, 30, 0);
  Add(unsorted, 10, 15, 0);
  EXPECT_FALSE(Nest(unsorted, 1).joined);
}

TEST(RecordedNestingTest, DeepChainsAndManySiblingsAreLinear) {
  constexpr uint32_t kRows = 100'000;
  EventColumns chain;
  for (uint32_t i = 0; i < kRows; ++i) Add(chain, 10 + i, 900'000 - i, i);
  EventColumns siblings;
  Add(siblings, 10, 900'000, 0);
  for (uint32_t i = 0; i < kRows; ++i) Add(siblings, 20 + i, 21 + i, 1);
  for (const EventColumns* events : {&chain, &siblings}) {
    const Result result = Nest(*events, 1000);
    ASSERT_TRUE(result.joined);
    EXPECT_EQ(result.rows, Reference(*events).rows);
  }
}

// A handler's record stands behind that of the range that it interrupted.
TEST(RecordedNestingTest, RangesOfOneTickKeepTheRecordersOrder) {
  EventColumns events;
  Add(events, 20, 20, 0);
  Add(events, 20, 40, 0);
  Add(events, 20, 30, 1);
  Add(events, 10, 15, 2);
  model::LossLedger ledger;
  const std::vector<Lane> lanes =
      NestTrack({SourceOf(events)}, kWindow, ledger);
  ASSERT_EQ(lanes.size(), 1u);
  EXPECT_EQ(lanes[0].end, (std::vector<TimeNs>{15, 20, 40, 30}));
  EXPECT_EQ(lanes[0].parent,
            (std::vector<EventIndex>{model::kNoEvent, model::kNoEvent,
                                     model::kNoEvent, 2}));
}

}  // namespace
}  // namespace kymo::normalize
