#include "profiler/base/clock.h"

#include <time.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"

namespace kymo {
namespace {

TEST(ClockTest, ConversionAgreesWithTheSystemClockWithinItsError) {
  const ClockSource source = DetectClockSource();
  ClockAnchor anchors[100];
  for (ClockAnchor& anchor : anchors) {
    const timespec pause = {0, 100'000};
    nanosleep(&pause, nullptr);
    anchor = MeasureAnchor(source);
  }
  // Each between its two neighbours: all hundred may take a busy machine so
  // long that the system's clock gets another rate meanwhile.
  for (size_t i = 1; i + 1 < std::size(anchors); ++i) {
    const TickConverter converter(source, anchors[i - 1], anchors[i + 1],
                                  EpochOffsetNs());
    const int64_t off = converter.ToEpochNs(anchors[i].ticks) -
                        (anchors[i].monotonic_ns + EpochOffsetNs());
    // Each side is known up to its own stated uncertainty; 5 ns are left for
    // slewing within a few tenths of a millisecond.
    EXPECT_LE(std::abs(off),
              converter.error_ns() + anchors[i].uncertainty_ns + 5);
  }
}

TEST(ClockTest, ConvertsExactlyOnAStraightLine) {
  const ClockAnchor first = {.ticks = 1000, .monotonic_ns = 500};
  const ClockAnchor last = {.ticks = 1000 + 3'000'000'000u,
                            .monotonic_ns = 500 + 1'000'000'000};
  const TickConverter converter(ClockSource::kCounter, first, last, 10);
  EXPECT_EQ(converter.ToEpochNs(1000), 510);
  EXPECT_NEAR(converter.ToEpochNs(1000 + 3'000'000), 510 + 1'000'000, 1);
  EXPECT_NEAR(converter.ToEpochNs(700), 410, 1);  // before the first anchor
}

TEST(ClockTest, TheErrorIsThatOfTheWorseAnchor) {
  const auto error_of = [](int64_t first, int64_t last) {
    return TickConverter(ClockSource::kCounter, {.uncertainty_ns = first},
                         {.ticks = 1, .uncertainty_ns = last}, 0)
        .error_ns();
  };
  EXPECT_EQ(error_of(3, 5), 5);
  EXPECT_EQ(error_of(6, 5), 6);
}

TEST(ClockTest, WithoutADistanceBetweenTheAnchorsATickIsANanosecond) {
  const ClockAnchor anchor = {.ticks = 1000, .monotonic_ns = 500};
  for (const uint64_t ticks : {uint64_t{1000}, uint64_t{999}}) {
    const TickConverter converter(ClockSource::kCounter, anchor,
                                  {.ticks = ticks, .monotonic_ns = 900}, 10);
    EXPECT_EQ(converter.ToEpochNs(1000), 510);
    EXPECT_EQ(converter.ToEpochNs(1007), 517);
  }
  // One tick is enough.
  const TickConverter converter(ClockSource::kCounter, anchor,
                                {.ticks = 1001, .monotonic_ns = 510}, 10);
  EXPECT_EQ(converter.ToEpochNs(1002), 530);
}

TEST(ClockTest, AnAnchorLiesBetweenTheTimesAroundIt) {
  for (const ClockSource source : {ClockSource::kSystem, DetectClockSource()}) {
    const int64_t before = MonotonicNs();
    const uint64_t before_ticks = ReadTicks(source);
    const ClockAnchor anchor = MeasureAnchor(source);
    const uint64_t after_ticks = ReadTicks(source);
    const int64_t after = MonotonicNs();
    EXPECT_GE(anchor.ticks, before_ticks);
    EXPECT_LE(anchor.ticks, after_ticks);
    EXPECT_GE(anchor.monotonic_ns, before);
    EXPECT_LE(anchor.monotonic_ns, after);
    // Half of the shortest of 16 readings, and a tick.
    EXPECT_GE(anchor.uncertainty_ns, 1 + TickNs(source));
    EXPECT_LE(anchor.uncertainty_ns,
              (after - before) / 16 / 2 + 1 + TickNs(source));
    if (source == ClockSource::kSystem) {
      EXPECT_LE(
          std::abs(static_cast<int64_t>(anchor.ticks) - anchor.monotonic_ns),
          anchor.uncertainty_ns);
    }
  }
}

TEST(ClockTest, TheEnvironmentChoosesTheClock) {
  const char* const before = getenv("KYMO_CLOCK");
  const std::string kept = before == nullptr ? "" : before;
  setenv("KYMO_CLOCK", "system", 1);
  EXPECT_EQ(DetectClockSource(), ClockSource::kSystem);
#if defined(__x86_64__) || defined(__aarch64__)
  setenv("KYMO_CLOCK", "counter", 1);
  EXPECT_EQ(DetectClockSource(), ClockSource::kCounter);
#endif
  unsetenv("KYMO_CLOCK");
  const ClockSource detected = DetectClockSource();
#if defined(__x86_64__)
  // Else the kernel's choice, which names it among the clocks that it trusts.
  std::ifstream clocks(
      "/sys/devices/system/clocksource/clocksource0/available_clocksource");
  std::string word;
  bool is_trusted = false;
  while (clocks >> word) is_trusted |= word == "tsc";
  if (!is_trusted) {
    EXPECT_EQ(detected, ClockSource::kSystem);
  }
#endif
  setenv("KYMO_CLOCK", "nonsense", 1);
  EXPECT_EQ(DetectClockSource(), detected);
  unsetenv("KYMO_CLOCK");
  if (before != nullptr) setenv("KYMO_CLOCK", kept.c_str(), 1);
}

TEST(ClockTest, TicksComeAsOftenAsTheCounterSays) {
  EXPECT_EQ(TickNs(ClockSource::kSystem), 0);
#if defined(__aarch64__)
  // Over a pause, the frequency counts as many ticks as the counter.
  const ClockAnchor first = MeasureAnchor(ClockSource::kCounter);
  const timespec pause = {0, 50'000'000};
  nanosleep(&pause, nullptr);
  const ClockAnchor last = MeasureAnchor(ClockSource::kCounter);
  const auto ticks = static_cast<double>(last.ticks - first.ticks);
  const double seen =
      static_cast<double>(last.monotonic_ns - first.monotonic_ns) / ticks;
  EXPECT_GE(TickNs(ClockSource::kCounter), 1);
  EXPECT_GT(static_cast<double>(TickNs(ClockSource::kCounter)), seen * 0.99);
  EXPECT_LT(static_cast<double>(TickNs(ClockSource::kCounter)), seen + 1.01);
#else
  EXPECT_EQ(TickNs(ClockSource::kCounter), 0);
#endif
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
  const int64_t before_ns = MonotonicNs() + EpochOffsetNs();
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t after_ns = MonotonicNs() + EpochOffsetNs();
  // The wall clock may have been set a little since the program's start.
  const int64_t now_ns = now.tv_sec * kNsPerSecond + now.tv_nsec;
  EXPECT_GT(now_ns, before_ns - 10 * kNsPerMs);
  EXPECT_LT(now_ns, after_ns + 10 * kNsPerMs);
}

}  // namespace
}  // namespace kymo
