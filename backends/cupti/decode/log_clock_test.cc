#include "backends/cupti/decode/log_clock.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace kymo::cupti {
namespace {

AnchorRecord Anchor(uint64_t log_ns, uint64_t monotonic_ns,
                    uint64_t uncertainty_ns = 10) {
  AnchorRecord anchor = {};
  anchor.clock = LogClock::kCupti;
  anchor.log_ns = log_ns;
  anchor.monotonic_ns = monotonic_ns;
  anchor.uncertainty_ns = uncertainty_ns;
  return anchor;
}

// A finished clock of these anchors.
LogClockConverter ClockOf(std::initializer_list<AnchorRecord> anchors) {
  LogClockConverter clock(0);
  for (const AnchorRecord& anchor : anchors) clock.Add(anchor);
  clock.Finish();
  return clock;
}

TEST(LogClockTest, OurOwnClockNeedsAnAdditionOnly) {
  LogClockConverter clock(1000);
  AnchorRecord anchor = {};
  anchor.clock = LogClock::kMonotonic;
  clock.Add(anchor);
  clock.Finish();
  EXPECT_EQ(clock.ToEpochNs(5), 1005);
  EXPECT_EQ(clock.error_ns(), 0);
}

TEST(LogClockTest, AnUnknownTimeStaysUnknown) {
  LogClockConverter clock(1000);
  clock.Finish();
  EXPECT_EQ(clock.ToEpochNs(0), 0);
}

TEST(LogClockTest, InterpolatesBetweenAnchorsAndGoesOnBesideThem) {
  LogClockConverter clock =
      ClockOf({Anchor(10'000, 10'400), Anchor(0 + 1, 101)});
  EXPECT_EQ(clock.ToEpochNs(1), 101);
  EXPECT_EQ(clock.ToEpochNs(5'001), 5'001 + 250);
  EXPECT_EQ(clock.ToEpochNs(10'000), 10'400);
  EXPECT_EQ(clock.ToEpochNs(20'000), 20'400);
}

TEST(LogClockTest, StatesUncertaintyAndChangeAsItsError) {
  LogClockConverter clock =
      ClockOf({Anchor(1, 101, 30), Anchor(10'000, 10'400, 40)});
  EXPECT_EQ(clock.error_ns(), 40 + 300);
}

TEST(LogClockTest, TheLargestChangeBetweenNeighboursCountsUpOrDown) {
  // Offsets of 100, 400, 300 and 500 ns: the changes are 300, -100 and 200.
  LogClockConverter up =
      ClockOf({Anchor(30'000, 30'300), Anchor(10'000, 10'100),
               Anchor(20'000, 20'400), Anchor(40'000, 40'500)});
  EXPECT_EQ(up.error_ns(), 10 + 300);
  // 400, 100 and 200: -300 and 100.
  LogClockConverter down = ClockOf(
      {Anchor(10'000, 10'400), Anchor(20'000, 20'100), Anchor(30'000, 30'200)});
  EXPECT_EQ(down.error_ns(), 10 + 300);
  // The same offset everywhere, and a single anchor.
  LogClockConverter steady =
      ClockOf({Anchor(10'000, 10'400), Anchor(20'000, 20'400)});
  EXPECT_EQ(steady.error_ns(), 10);
  LogClockConverter single = ClockOf({Anchor(10'000, 10'400)});
  EXPECT_EQ(single.error_ns(), 10);
  EXPECT_EQ(single.ToEpochNs(9'000), 9'400);
}

TEST(LogClockTest, AnchorsOfOneTimeGoByTheLast) {
  LogClockConverter clock =
      ClockOf({Anchor(10'000, 10'400), Anchor(20'000, 20'100),
               Anchor(20'000, 20'700), Anchor(30'000, 30'700)});
  EXPECT_EQ(clock.ToEpochNs(20'000), 20'700);
  EXPECT_EQ(clock.ToEpochNs(25'000), 25'700);
  EXPECT_EQ(clock.ToEpochNs(10'000), 10'400);
}

TEST(LogClockTest, FollowsAClockThatWasSteppedBack) {
  LogClockConverter clock =
      ClockOf({Anchor(1'000'000, 1'000), Anchor(500'000, 101'000)});
  EXPECT_EQ(clock.ToEpochNs(500'000), 101'000);
  EXPECT_EQ(clock.ToEpochNs(1'000'000), 1'000);
  EXPECT_GE(clock.error_ns(), 500'000) << "nobody can tell which time it was";
}

}  // namespace
}  // namespace kymo::cupti
