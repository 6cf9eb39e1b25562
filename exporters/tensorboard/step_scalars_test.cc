#include "exporters/tensorboard/step_scalars.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::tensorboard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "step tag value".
std::vector<std::string> Scalars(TestTrace t) {
  const model::Trace trace = std::move(t).Build();
  std::vector<std::string> texts;
  for (const Scalar& scalar : StepScalars(trace, StepNames(trace.strings()))) {
    char value[32];
    std::snprintf(value, sizeof(value), "%g", scalar.value);
    texts.push_back(std::to_string(scalar.step) + " " + scalar.tag + " " +
                    value);
  }
  return texts;
}

TEST(StepScalarsTest, ANegativeNumberIsNoStep) {
  TestTrace t;
  t.AddAnnotation(t.AddThread(1, 1, "main"), "ProfilerStep#-1", 0, kNsPerMs);
  EXPECT_THAT(Scalars(std::move(t)), ElementsAre());
}

TEST(StepScalarsTest, OperationsAddUpInTheirSteps) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "before", 0, kNsPerMs);
  t.AddAnnotation(main, "ProfilerStep#4", 2 * kNsPerMs, 10 * kNsPerMs);
  t.AddRange(main, "f", 2 * kNsPerMs, 6 * kNsPerMs);
  t.AddRange(main, "g", 3 * kNsPerMs, 4 * kNsPerMs);
  t.AddAnnotation(main, "loss", 7 * kNsPerMs, 8 * kNsPerMs);
  t.AddAnnotation(main, "ProfilerStep#5", 10 * kNsPerMs, 12 * kNsPerMs);
  const auto worker = t.AddThread(1, 2, "worker");
  t.AddRange(worker, "g", 5 * kNsPerMs, 7 * kNsPerMs);    // in step 4
  t.AddRange(worker, "g", 12 * kNsPerMs, 13 * kNsPerMs);  // after the steps
  const auto other = t.AddThread(2, 3, "other process");
  t.AddRange(other, "f", 5 * kNsPerMs, 6 * kNsPerMs);
  EXPECT_THAT(Scalars(std::move(t)),
              ElementsAre("4 operator_time_ms/before 0",  //
                          "4 operator_time_ms/f 3",       //
                          "4 operator_time_ms/g 3",       //
                          "4 steps/operator_count 3",     //
                          "4 steps/operator_time_ms 6",   //
                          "4 steps/time_ms 8",            //
                          "5 operator_time_ms/before 0",  //
                          "5 operator_time_ms/f 0",       //
                          "5 operator_time_ms/g 0",       //
                          "5 steps/operator_count 0",     //
                          "5 steps/operator_time_ms 0",   //
                          "5 steps/time_ms 2"));
}

TEST(StepScalarsTest, WhatAnOperationCallsIsOfItsStep) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddAnnotation(main, "ProfilerStep#1", 10 * kNsPerMs, 20 * kNsPerMs);
  t.AddAnnotation(main, "ProfilerStep#2", 20 * kNsPerMs, 30 * kNsPerMs);
  const auto worker = t.AddThread(1, 2, "worker");
  // Begins in step 1; what it calls begins in step 2.
  t.AddRange(worker, "f", 18 * kNsPerMs, 26 * kNsPerMs);
  t.AddRange(worker, "g", 21 * kNsPerMs, 24 * kNsPerMs);
  // Begins after the last step.
  const auto late = t.AddThread(1, 3, "late");
  t.AddRange(late, "g", 30 * kNsPerMs, 31 * kNsPerMs);
  // Begins before the first step; what it calls begins in step 1, at its start.
  const auto early = t.AddThread(1, 4, "early");
  t.AddRange(early, "f", 5 * kNsPerMs, 15 * kNsPerMs);
  t.AddRange(early, "g", 10 * kNsPerMs, 12 * kNsPerMs);
  EXPECT_THAT(Scalars(std::move(t)),
              ElementsAre("1 operator_time_ms/f 5",       //
                          "1 operator_time_ms/g 5",       //
                          "1 steps/operator_count 3",     //
                          "1 steps/operator_time_ms 10",  //
                          "1 steps/time_ms 10",           //
                          "2 operator_time_ms/f 0",       //
                          "2 operator_time_ms/g 0",       //
                          "2 steps/operator_count 0",     //
                          "2 steps/operator_time_ms 0",   //
                          "2 steps/time_ms 10"));
}

TEST(StepScalarsTest, StepsOfOneNumberAreOne) {
  TestTrace t;
  for (const int64_t tid : {1, 2}) {
    const auto thread = t.AddThread(1, tid, "worker");
    t.AddAnnotation(thread, "ProfilerStep#0", 0, tid * kNsPerMs);
    t.AddRange(thread, "f", 0, kNsPerMs / 2);
  }
  EXPECT_THAT(Scalars(std::move(t)),
              ElementsAre("0 operator_time_ms/f 1", "0 steps/operator_count 2",
                          "0 steps/operator_time_ms 1", "0 steps/time_ms 2"));
}

TEST(StepScalarsTest, MemoryAtTheEndOfSteps) {
  TestTrace t;
  t.SetWindow(0, 100);
  const auto main = t.AddThread(1, 1, "main");
  t.AddAnnotation(main, "ProfilerStep#0", 0, 50);
  int64_t total = 0;
  for (const int64_t bytes : {1'000, 24, -1'000}) {
    total += bytes;
    t.data().memory.push_back(
        {.track = main,
         .source = model::MemorySource::kHeap,
         .time_ns = 10 + static_cast<TimeNs>(t.data().memory.size()),
         .address = 64,
         .bytes = bytes,
         .total_allocated = total});
  }
  EXPECT_THAT(
      Scalars(std::move(t)),
      ElementsAre("0 memory/heap_allocated_bytes 1024",
                  "0 memory/heap_allocations 2",
                  "0 memory/heap_in_use_bytes 24", "0 steps/operator_count 0",
                  "0 steps/operator_time_ms 0", "0 steps/time_ms 5e-05"));
}

TEST(StepScalarsTest, TagsAreShortAndDiffer) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddAnnotation(main, "ProfilerStep#0", 0, 100);
  t.AddRange(main, "", 0, 10);
  t.AddRange(main, std::string(65'536, 'x') + "a", 20, 40);
  t.AddRange(main, std::string(65'536, 'x') + "b", 50, 80);
  const std::string cut = "0 operator_time_ms/" + std::string(200, 'x');
  EXPECT_THAT(
      Scalars(std::move(t)),
      ElementsAre("0 operator_time_ms/(unnamed) 1e-05", cut + "... #1 3e-05",
                  cut + "... #2 2e-05", "0 steps/operator_count 3",
                  "0 steps/operator_time_ms 6e-05", "0 steps/time_ms 0.0001"));
}

TEST(StepScalarsTest, NoStepsNoScalars) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "ProfilerStep", 0, 10);
  EXPECT_THAT(Scalars(std::move(t)), IsEmpty());
}

TEST(StepScalarsTest, TheTwentyLongestOperationsHaveTags) {
  const auto tags = [](int operations) {
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    t.AddAnnotation(main, "ProfilerStep#0", 0, 1'000);
    for (int i = 0; i < operations; ++i) {
      t.AddRange(main, "f" + std::to_string(i), 10 * i, 10 * i + 1 + i % 3);
    }
    std::vector<std::string> names;
    for (const std::string& scalar : Scalars(std::move(t))) {
      const size_t at = scalar.find("operator_time_ms/");
      if (scalar.starts_with("0 operator_time_ms/")) {
        names.push_back(scalar.substr(at + 17, scalar.rfind(' ') - at - 17));
      }
    }
    return names;
  };
  EXPECT_EQ(tags(20).size(), 20u);
  const std::vector<std::string> most = tags(21);
  EXPECT_EQ(most.size(), 20u);
  // Of those with the least time the last name goes.
  EXPECT_EQ(std::count(most.begin(), most.end(), "f18"), 0);
}

TEST(StepScalarsTest, ATagOf200BytesIsWhole) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddAnnotation(main, "ProfilerStep#0", 0, 100);
  t.AddRange(main, std::string(200, 'x'), 0, 10);
  t.AddRange(main, std::string(201, 'y'), 20, 25);
  const std::vector<std::string> scalars = Scalars(std::move(t));
  EXPECT_EQ(scalars[0],
            "0 operator_time_ms/" + std::string(200, 'x') + " 1e-05");
  EXPECT_EQ(scalars[1],
            "0 operator_time_ms/" + std::string(200, 'y') + "... #2 5e-06");
}

// A step has what begins from its start on and before its end, in its process.
TEST(StepScalarsTest, OtherThreadsAreInAStepByTheirStarts) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddAnnotation(main, "ProfilerStep#0", 100, 200);
  const auto worker = t.AddThread(1, 2, "worker");
  for (const TimeNs start : {99, 100, 199, 200}) {
    t.AddRange(worker, "f", start, start);
  }
  const std::vector<Scalar> scalars = [&] {
    const model::Trace trace = std::move(t).Build();
    return StepScalars(trace, StepNames(trace.strings()));
  }();
  ASSERT_EQ(scalars.size(), 3u);
  EXPECT_EQ(scalars[0].tag, "steps/operator_count");
  EXPECT_EQ(scalars[0].value, 2);
  for (const Scalar& scalar : scalars) {
    EXPECT_EQ(scalar.step, 0);
    EXPECT_DOUBLE_EQ(scalar.wall_time_s, 2e-7);
  }
}

}  // namespace
}  // namespace kymo::tensorboard
