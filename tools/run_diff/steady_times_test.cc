#include "tools/run_diff/steady_times.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profiler/base/time.h"
#include "tests/support/test_trace.h"

namespace kymo::tools {
namespace {

using model::TrackIndex;
using ::testing::ElementsAre;
using ::testing::Pair;

// Microseconds by name.
std::map<std::string, double> Steady(const model::Trace& trace,
                                     std::span<const uint8_t> counted = {}) {
  RunAmounts amounts;
  AddSteadyTimes(trace, counted, amounts);
  std::map<std::string, double> times;
  for (const auto& [key, us] : amounts) {
    EXPECT_EQ(key.table, RunTable::kSteady);
    times[key.name] = us;
  }
  return times;
}

// Calls of "mm" that take so many microseconds, one after the other.
TestTrace Calls(const std::vector<int64_t>& us) {
  TestTrace t;
  const TrackIndex main = t.AddThread(1, 1, "main");
  TimeNs now = 0;
  for (const int64_t each : us) {
    t.AddRange(main, "mm", now, now + each * kNsPerUs);
    now += each * kNsPerUs;
  }
  return t;
}

TEST(SteadyTimesTest, TheSlowestQuarterCountsAsTheOthersDo) {
  EXPECT_THAT(Steady(Calls({10, 4000, 12, 11}).Build()),
              ElementsAre(Pair("mm", 44)));
  // Two of four are too many to be chance, and of three all count.
  EXPECT_THAT(Steady(Calls({10, 4000, 4000, 10}).Build()),
              ElementsAre(Pair("mm", 4.0 / 3 * 4020)));
  EXPECT_THAT(Steady(Calls({10, 10, 40}).Build()), ElementsAre(Pair("mm", 60)));
}

TEST(SteadyTimesTest, WaitingForACpuIsNobodysTime) {
  TestTrace t;
  const TrackIndex main = t.AddThread(1, 1, "main");
  t.AddRange(main, "outer", 0, 100'000);
  t.AddRange(main, "inner", 10'000, 90'000);
  t.SetThreadTimes({{.track = main, .wall_ns = 100'000}});
  t.AddWait({.track = main,
             .kind = model::WaitKind::kCpuBusy,
             .begin_ns = 20'000,
             .duration_ns = 30'000});
  // It was blocked for 5 us, then waited 2 us for a CPU.
  t.AddWait({.track = main,
             .kind = model::WaitKind::kLock,
             .begin_ns = 60'000,
             .duration_ns = 7'000,
             .runnable_ns = 2'000});
  // Behind the end of `inner`, so of `outer`.
  t.AddWait({.track = main,
             .kind = model::WaitKind::kCpuBusy,
             .begin_ns = 90'000,
             .duration_ns = 4'000});
  EXPECT_THAT(Steady(std::move(t).Build()),
              ElementsAre(Pair("inner", 48), Pair("outer", 16)));
}

TEST(SteadyTimesTest, CountsTheRangesOfThreads) {
  TestTrace t;
  const TrackIndex main = t.AddThread(1, 1, "main");
  t.AddRange(main, "ProfilerStep#1", 0, 3'000);
  t.AddRange(main, "frame", 1'000, 2'000, model::ActivityType::kPythonFunction);
  t.AddRange(main, "ProfilerStep#2", 3'000, 7'000);
  t.AddInstant(main, "mark", 4'000);
  t.AddRange(main, "async", 4'000, 5'000, model::ActivityType::kCpuOp,
             model::kEventAsync);
  t.AddRange(t.AddStream(0, 7), "kernel", 0, 9'000);
  const model::Trace trace = std::move(t).Build();
  EXPECT_THAT(Steady(trace), ElementsAre(Pair("ProfilerStep*", 6)));
  std::vector<uint8_t> counted(trace.event_count(), 1);
  counted[0] = 0;
  EXPECT_THAT(Steady(trace, counted), ElementsAre(Pair("ProfilerStep*", 4)));
}

}  // namespace
}  // namespace kymo::tools
