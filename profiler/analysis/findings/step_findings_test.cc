#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

constexpr int64_t kMs = kNsPerMs;

// Steps of `ms` each, one after the other, with a Load of `load_ms` in each.
TestTrace Steps(const std::vector<int64_t>& ms,
                const std::vector<int64_t>& load_ms = {}) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  TimeNs now = 0;
  for (size_t i = 0; i < ms.size(); ++i) {
    t.AddRange(main, "ProfilerStep#" + std::to_string(i), now,
               now + ms[i] * kMs);
    if (!load_ms.empty()) {
      t.AddRange(main, "Load", now, now + load_ms[i] * kMs);
    }
    now += ms[i] * kMs;
  }
  return t;
}

std::string TitleOf(TestTrace t) {
  const auto found = Found(std::move(t), FindingKind::kSlowSteps);
  return found.size() == 1 ? found[0].title : "";
}

TEST(StepFindingsTest, ASlowStepAndWhatDiffersInIt) {
  const auto found =
      Found(Steps({100, 100, 300, 100, 100}, {10, 10, 200, 10, 10}),
            FindingKind::kSlowSteps);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Step 2 took 300 ms, 3.0 times the median of 100 ms; in it, Load "
            "took 190 ms more than usual");
  EXPECT_EQ(found[0].time_ns, 200 * kMs);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kInterval);
  EXPECT_EQ(found[0].evidence.name, "ProfilerStep#2");
  EXPECT_EQ(found[0].evidence.begin_ns, 200 * kMs);
  EXPECT_EQ(found[0].evidence.duration_ns, 300 * kMs);
  EXPECT_EQ(found[0].next_step,
            "Compare it with the step before it in the timeline");
}

TEST(StepFindingsTest, TimeOutsideOfRangesIsTheSteps) {
  EXPECT_EQ(TitleOf(Steps({100, 100, 300, 100, 100}, {10, 10, 10, 10, 10})),
            "Step 2 took 300 ms, 3.0 times the median of 100 ms; in it, 200 ms "
            "more than usual passed outside of the ranges of its thread");
}

TEST(StepFindingsTest, WaitsThatDifferAreSaid) {
  TestTrace t = Steps({100, 100, 300, 100, 100});
  t.SetThreadTimes({{.track = 0, .wall_ns = 700 * kMs}});
  t.AddWait({.track = 0,
             .kind = model::WaitKind::kRead,
             .begin_ns = 10 * kMs,
             .duration_ns = 40 * kMs});
  t.AddWait({.track = 0,
             .kind = model::WaitKind::kRead,
             .begin_ns = 250 * kMs,
             .duration_ns = 150 * kMs});
  // 150 ms less a quarter of 40 ms.
  EXPECT_TRUE(TitleOf(std::move(t))
                  .ends_with("; its thread waited for 140 ms more than usual"));
}

TEST(StepFindingsTest, SeveralSlowStepsAreOneFinding) {
  const std::string title = TitleOf(Steps({200, 100, 100, 300, 100, 100, 100}));
  EXPECT_TRUE(title.starts_with(
      "2 of 7 steps took more than 1.5 times the median; the slowest, step 3, "
      "took 300 ms, 3.0 times the median of 100 ms"))
      << title;
}

TEST(StepFindingsTest, TheFirstStepWarmsUp) {
  const auto found =
      Found(Steps({300, 100, 100, 100, 100}), FindingKind::kSlowSteps);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].next_step.starts_with("A first step also loads"));
}

TEST(StepFindingsTest, HalfAsMuchAgainIsNotSlow) {
  EXPECT_EQ(TitleOf(Steps({100, 100, 150, 100, 100})), "");
  EXPECT_NE(TitleOf(Steps({100, 100, 151, 100, 100})), "");
}

TEST(StepFindingsTest, FewerThanFiveStepsHaveNoMedian) {
  EXPECT_EQ(TitleOf(Steps({100, 100, 300, 100})), "");
  EXPECT_NE(TitleOf(Steps({100, 100, 300, 100, 100})), "");
}

TEST(StepFindingsTest, ATwentiethOfTheRunMatters) {
  std::vector<int64_t> ms(19, 100);
  ms.push_back(200);  // 100 of 2,100 ms
  EXPECT_EQ(TitleOf(Steps(ms)), "");
  ms.back() = 206;  // 106 of 2,106 ms
  EXPECT_NE(TitleOf(Steps(ms)), "");
}

TEST(StepFindingsTest, TheLastStepEndsWithItsRange) {
  TestTrace t = Steps({100, 100, 100, 100, 100});
  t.SetWindow(0, 5000 * kMs);
  EXPECT_EQ(TitleOf(std::move(t)), "");
}

// As between the cycles of a schedule, or where a program saves its state.
TEST(StepFindingsTest, WhatPassesBetweenStepsIsOfNone) {
  const auto with = [](DurationNs slow_ns) {
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    TimeNs now = 0;
    for (int i = 0; i < 6; ++i) {
      const DurationNs ns = i == 2 ? slow_ns : 90 * kMs;
      t.AddRange(main, "ProfilerStep#" + std::to_string(i), now, now + ns);
      now += ns + 10 * kMs;
      if (i != 2) continue;
      t.AddRange(main, "Save", now, now + 280 * kMs);
      now += 290 * kMs;
    }
    const TimeNs copied_ns = 300 * kMs + slow_ns;
    t.AddRange(t.AddThread(1, 2, "other"), "Copy", copied_ns,
               copied_ns + 200 * kMs);
    return Found(std::move(t), FindingKind::kSlowSteps);
  };
  EXPECT_TRUE(with(90 * kMs).empty());
  const auto found = with(190 * kMs);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Step 2 took 190 ms, 2.1 times the median of 90.0 ms; in it, 100 "
            "ms more than usual passed outside of the ranges of its thread");
  EXPECT_EQ(found[0].evidence.begin_ns, 200 * kMs);
  EXPECT_EQ(found[0].evidence.duration_ns, 190 * kMs);
}

TEST(StepFindingsTest, StepsOfNoTimeHaveNoFactor) {
  EXPECT_TRUE(TitleOf(Steps({0, 0, 0, 0, 100}))
                  .starts_with("Step 4 took 100 ms; in it"));
}

}  // namespace
}  // namespace kymo::analysis
