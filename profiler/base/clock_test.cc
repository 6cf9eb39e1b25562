#include "profiler/base/clock.h"

#include <time.h>

#include <cstdlib>

#include "gtest/gtest.h"

namespace kymo {
namespace {

TEST(ClockTest, ConversionAgreesWithTheSystemClockWithinItsError) {
  const ClockSource source = DetectClockSource();
  const ClockAnchor first = MeasureAnchor(source);
  ClockAnchor between[100];
  for (ClockAnchor& anchor : between) {
    const timespec pause = {0, 100'000};
    nanosleep(&pause, nullptr);
    anchor = MeasureAnchor(source);
  }
  const ClockAnchor last = MeasureAnchor(source);
  const TickConverter converter(source, first, last, EpochOffsetNs());
  for (const ClockAnchor& anchor : between) {
    const int64_t off = converter.ToEpochNs(anchor.ticks) -
                        (anchor.monotonic_ns + EpochOffsetNs());
    // Each side is known up to its own stated uncertainty; 5 ns are left for
    // slewing within the test's few milliseconds.
    EXPECT_LE(std::abs(off), converter.error_ns() + anchor.uncertainty_ns + 5);
  }
}

TEST(ClockTest, ConvertsExactlyOnAStraightLine) {
  const ClockAnchor first = {.ticks = 1000, .monotonic_ns = 500};
  const ClockAnchor last = {.ticks = 1000 + 3'000'000'000u,
                            .monotonic_ns = 500 + 1'000'000'000};
  const TickConverter converter(ClockSource::kTsc, first, last, 10);
  EXPECT_EQ(converter.ToEpochNs(1000), 510);
  EXPECT_NEAR(converter.ToEpochNs(1000 + 3'000'000), 510 + 1'000'000, 1);
  EXPECT_NEAR(converter.ToEpochNs(700), 410, 1);  // before the first anchor
}

TEST(ClockTest, SystemTicksAreNanoseconds) {
  const ClockAnchor first = MeasureAnchor(ClockSource::kSystem);
  const ClockAnchor last = MeasureAnchor(ClockSource::kSystem);
  const TickConverter converter(ClockSource::kSystem, first, last, 7);
  const uint64_t now = ReadTicks(ClockSource::kSystem);
  EXPECT_EQ(converter.ToEpochNs(now), static_cast<int64_t>(now) + 7);
  EXPECT_EQ(converter.error_ns(), 0);
}

TEST(ClockTest, EpochOffsetIsOneNumberNearTheWallClock) {
  EXPECT_EQ(EpochOffsetNs(), EpochOffsetNs());
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  EXPECT_LT(std::abs(MonotonicNs() + EpochOffsetNs() -
                     (now.tv_sec * kNsPerSecond + now.tv_nsec)),
            10 * kNsPerMs);
}

}  // namespace
}  // namespace kymo
