#include "profiler/analysis/steps.h"

#include <utility>

#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

TEST(StepsTest, LastUntilTheNextBegins) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "");
  t.AddAnnotation(main, "ProfilerStep#3", 10, 20);
  t.AddRange(main, "work", 12, 15);
  t.AddAnnotation(main, "ProfilerStep#4", 30, 40);
  t.AddRange(main, "after", 50, 70);
  const auto processes = FindSteps(std::move(t).Build());
  ASSERT_EQ(processes.size(), 1);
  const std::vector<Step>& steps = processes[0].steps;
  ASSERT_EQ(steps.size(), 2);
  EXPECT_EQ(steps[0].number, 3);
  EXPECT_EQ(steps[0].begin_ns, 10);
  EXPECT_EQ(steps[0].end_ns, 30);
  EXPECT_EQ(steps[1].number, 4);
  EXPECT_EQ(steps[1].end_ns, 70);
  EXPECT_EQ(steps[1].event, 2);
}

TEST(StepsTest, EachProcessHasThoseOfItsThreadWithMost) {
  TestTrace t;
  const auto few = t.AddThread(1, 1, "");
  t.AddAnnotation(few, "ProfilerStep#1", 5, 6);
  const auto many = t.AddThread(1, 2, "");
  t.AddAnnotation(many, "ProfilerStep#1", 10, 20);
  t.AddAnnotation(many, "ProfilerStep#2", 20, 30);
  const auto other = t.AddThread(2, 3, "");
  t.AddAnnotation(other, "ProfilerStep#9", 7, 8);
  const auto processes = FindSteps(std::move(t).Build());
  ASSERT_EQ(processes.size(), 2);
  EXPECT_EQ(processes[0].pid, 1);
  EXPECT_EQ(processes[0].steps.size(), 2);
  EXPECT_EQ(processes[1].pid, 2);
  EXPECT_EQ(processes[1].steps[0].number, 9);
}

TEST(StepsTest, OtherNamesAreNone) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "");
  t.AddAnnotation(main, "ProfilerStep#", 1, 2);
  t.AddAnnotation(main, "ProfilerStep#1x", 3, 4);
  t.AddAnnotation(main, "ProfilerStep#-1", 5, 6);
  t.AddAnnotation(main, "ProfilerStep#99999999999999999999", 7, 8);
  EXPECT_TRUE(FindSteps(std::move(t).Build()).empty());
}

}  // namespace
}  // namespace kymo::analysis
