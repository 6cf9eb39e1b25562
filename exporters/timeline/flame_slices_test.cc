#include "exporters/timeline/flame_slices.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::timeline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr DurationNs kPeriod = 100;

// "name start-end", a `*` after the name of a leaf.
std::vector<std::string> Slices(TestTrace t) {
  const model::Trace trace = std::move(t).Build();
  std::vector<std::string> texts;
  for (const FlameSlice& slice :
       MakeFlameSlices(trace.stacks(), trace.samples(), kPeriod)) {
    texts.push_back(
        std::string(trace.Name(trace.stacks().frame(slice.frame).function)) +
        (slice.is_leaf ? "* " : " ") + std::to_string(slice.start_ns) + "-" +
        std::to_string(slice.end_ns));
  }
  return texts;
}

TEST(FlameSlicesTest, ReplaysTheExample) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddSample(0, 0, 1, {"main", "f"});
  t.AddSample(0, 100, 1, {"main", "f", "g"});
  t.AddSample(0, 200, 1, {"main"});
  t.AddSample(0, 300, 1, {"main", "f"});
  EXPECT_THAT(Slices(std::move(t)), ElementsAre("main 0-400", "f* 0-200",
                                                "g* 100-200", "f* 300-400"));
}

// However much of a stack was looked at for the sample before.
TEST(FlameSlicesTest, StacksMayShrinkAndComeBack) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddSample(0, 0, 1, {"main", "f", "g", "h"});
  t.AddSample(0, 100, 1, {"main", "f"});
  t.AddSample(0, 200, 1, {"main", "f", "g", "h"});
  t.AddSample(0, 300, 1, {"main", "f", "x", "h"});
  t.AddSample(0, 400, 1, {"other", "f"});
  t.AddSample(0, 500, 1, {});
  t.AddSample(0, 600, 1, {"main", "f", "x", "h"});
  t.AddSample(0, 700, 1, {"main", "f", "x"});
  t.AddSample(0, 800, 1, {"main", "f", "x", "h"});
  EXPECT_THAT(
      Slices(std::move(t)),
      ElementsAre("main 0-400", "f 0-400", "g 0-100", "h* 0-100", "g 200-300",
                  "h* 200-300", "x 300-400", "h* 300-400", "other 400-500",
                  "f* 400-500", "main 600-900", "f 600-900", "x 600-900",
                  "h* 600-700", "h* 800-900"));
}

TEST(FlameSlicesTest, GapsEndEverything) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddSample(0, 0, 1, {"main"});
  t.AddSample(0, 150, 1, {"main"});  // 1.5 periods: joined
  t.AddSample(0, 301, 1, {"main"});  // more: apart
  EXPECT_THAT(Slices(std::move(t)),
              ElementsAre("main* 0-250", "main* 301-401"));
}

TEST(FlameSlicesTest, LateSamplesDoNotStretchWhatTheyDoNotShare) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddSample(0, 0, 1, {"main", "f"});
  t.AddSample(0, 140, 1, {"main", "g"});
  EXPECT_THAT(Slices(std::move(t)),
              ElementsAre("main 0-240", "f* 0-100", "g* 140-240"));
}

TEST(FlameSlicesTest, LinesOfAFunctionAreOneSlice) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  for (uint32_t line = 1; line <= 3; ++line) {
    const auto frame = t.data().stacks.AddFrame(
        {.function = t.Intern("f"), .line = line, .address = 16 * line});
    t.data().samples.push_back(
        {0, t.data().stacks.Push(model::kEmptyStack, frame), 100 * line, 1});
  }
  EXPECT_THAT(Slices(std::move(t)), ElementsAre("f* 100-400"));
}

TEST(FlameSlicesTest, RecursionNests) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddSample(0, 0, 1, {"f", "f"});
  t.AddSample(0, 50, 1, {"f"});
  EXPECT_THAT(Slices(std::move(t)), ElementsAre("f 0-150", "f* 0-50"));
}

// Where a program pays dearly for samples, fewer are taken.
TEST(FlameSlicesTest, ARareSampleLastsForItsTime) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddSample(0, 0, 100, {"f"});
  t.AddSample(0, 1'000, 1'000, {"f"});
  t.AddSample(0, 2'000, 1'000, {"f"});
  t.AddSample(0, 3'000, 199, {"g"});
  EXPECT_THAT(Slices(std::move(t)),
              ElementsAre("f* 0-100", "f* 1000-3000", "g* 3000-3100"));
}

TEST(FlameSlicesTest, SamplesOfOneInstantAndWithoutFrames) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddSample(0, 0, 1, {"f"});
  t.AddSample(0, 0, 1, {"g"});
  t.AddSample(0, 50, 1, {});
  EXPECT_THAT(Slices(std::move(t)), ElementsAre("g* 0-50"));
  EXPECT_THAT(Slices(TestTrace()), IsEmpty());
}

TEST(FlameSlicesTest, VeryDeepStacksKeepTheirOuterFrames) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  model::StackId stack = model::kEmptyStack;
  for (int i = 0; i < 2'000; ++i) {
    stack = t.data().stacks.Push(
        stack,
        t.data().stacks.AddFrame({.function = t.Intern(std::to_string(i))}));
  }
  t.data().samples.push_back({0, stack, 0, 1});
  const auto slices = Slices(std::move(t));
  EXPECT_EQ(slices.size(), kMaxFlameDepth);
  EXPECT_EQ(slices.back(), "499* 0-100");
}

TEST(FlameSlicesTest, PeriodIsTheTracesOrAMillisecond) {
  TestTrace t;
  t.data().sampling_period_ns = 250'000;
  EXPECT_EQ(SlicePeriodNs(std::move(t).Build()), 250'000);
  EXPECT_EQ(SlicePeriodNs(TestTrace().Build()), 1'000'000);
}

}  // namespace
}  // namespace kymo::timeline
