#include "profiler/session/step_tracker.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kymo {
namespace {

TEST(StepTrackerTest, PyTorchsExample) {
  StepTracker tracker;
  int steps = 0;
  tracker.SetStepHook([&] { ++steps; });
  tracker.init_step_count("P");
  EXPECT_EQ(tracker.increment_step("P"), 1);
  EXPECT_EQ(steps, 1);
  tracker.init_step_count("O");
  EXPECT_EQ(tracker.increment_step("O"), 2);
  EXPECT_EQ(steps, 2);
  EXPECT_EQ(tracker.increment_step("P"), 2);
  EXPECT_EQ(steps, 2);
  EXPECT_EQ(tracker.increment_step("P"), 3);
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(tracker.current_step(), 3);
}

TEST(StepTrackerTest, StepsBelowTheCurrentOneCountAgainOnlyBeyondIt) {
  StepTracker tracker;
  int steps = 0;
  tracker.init_step_count("P");
  tracker.init_step_count("O");
  tracker.SetStepHook([&] { ++steps; });
  for (int i = 0; i < 2; ++i) tracker.increment_step("P");
  for (int i = 0; i < 5; ++i) tracker.increment_step("O");
  EXPECT_TRUE(tracker.erase_step_count("O"));
  EXPECT_FALSE(tracker.erase_step_count("O"));
  steps = 0;
  EXPECT_EQ(tracker.increment_step("P"), 5);
  EXPECT_EQ(tracker.increment_step("P"), 5);
  EXPECT_EQ(tracker.increment_step("P"), 5);
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(tracker.increment_step("P"), 6);
  EXPECT_EQ(steps, 1);
}

TEST(StepTrackerTest, UnknownRequestersBeginAtTheCurrentStep) {
  StepTracker tracker;
  tracker.increment_step("P");
  EXPECT_EQ(tracker.increment_step("late"), 2);
}

TEST(StepTrackerTest, AJumpOfTwoIsWarnedAndAStepIsNot) {
  int warnings = 0;
  StepTracker tracker([&](std::string_view) { ++warnings; });
  tracker.increment_step("P");
  EXPECT_EQ(warnings, 0);
  tracker.set_step_count("other", 3);
  EXPECT_EQ(tracker.increment_step("P"), 3);
  EXPECT_EQ(warnings, 1);
}

TEST(StepTrackerTest, JumpsAreWarnedInPyTorchsWords) {
  std::vector<std::string> warnings;
  StepTracker tracker(
      [&](std::string_view text) { warnings.emplace_back(text); });
  int steps = 0;
  tracker.SetStepHook([&] { ++steps; });
  tracker.init_step_count("ProfilerStep");
  tracker.set_step_count("it's", 10);
  EXPECT_EQ(tracker.current_step(), 0);
  EXPECT_EQ(tracker.increment_step("ProfilerStep"), 10);
  EXPECT_EQ(steps, 10);
  EXPECT_EQ(
      warnings,
      (std::vector<std::string>{
          "Profiler step count has increased more than 1 - current_step = 0 "
          "step dict =  defaultdict(<class 'int'>, {'ProfilerStep': 1, "
          "\"it's\": 10})"}));
  EXPECT_EQ(tracker.increment_step("it's"), 11);
  EXPECT_EQ(warnings.size(), 1);
}

TEST(StepTrackerTest, InitBringsARequesterToTheCurrentStep) {
  StepTracker tracker;
  tracker.init_step_count("P");
  for (int i = 0; i < 5; ++i) tracker.increment_step("O");
  tracker.init_step_count("P");
  EXPECT_EQ(tracker.increment_step("P"), 6);
}

TEST(StepTrackerTest, HookMayUseTheTracker) {
  StepTracker tracker;
  int64_t seen = 0;
  tracker.SetStepHook([&] { seen = tracker.current_step(); });
  tracker.increment_step("P");
  EXPECT_EQ(seen, 1);
}

TEST(StepTrackerTest, CountsFromSeveralThreadsAddUp) {
  StepTracker tracker;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) tracker.increment_step("P");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tracker.current_step(), 4000);
}

}  // namespace
}  // namespace kymo
