#include "backends/cupti/decode/log_clock.h"

#include <gtest/gtest.h>

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
  LogClockConverter clock(0);
  clock.Add(Anchor(10'000, 10'400));
  clock.Add(Anchor(0 + 1, 101));
  clock.Finish();
  EXPECT_EQ(clock.ToEpochNs(1), 101);
  EXPECT_EQ(clock.ToEpochNs(5'001), 5'001 + 250);
  EXPECT_EQ(clock.ToEpochNs(10'000), 10'400);
  EXPECT_EQ(clock.ToEpochNs(20'000), 20'400);
}

TEST(LogClockTest, StatesUncertaintyAndChangeAsItsError) {
  LogClockConverter clock(0);
  clock.Add(Anchor(1, 101, 30));
  clock.Add(Anchor(10'000, 10'400, 40));
  clock.Finish();
  EXPECT_EQ(clock.error_ns(), 40 + 300);
}

TEST(LogClockTest, FollowsAClockThatWasSteppedBack) {
  LogClockConverter clock(0);
  clock.Add(Anchor(1'000'000, 1'000));
  clock.Add(Anchor(500'000, 101'000));
  clock.Finish();
  EXPECT_EQ(clock.ToEpochNs(500'000), 101'000);
  EXPECT_EQ(clock.ToEpochNs(1'000'000), 1'000);
  EXPECT_GE(clock.error_ns(), 500'000) << "nobody can tell which time it was";
}

}  // namespace
}  // namespace kymo::cupti
