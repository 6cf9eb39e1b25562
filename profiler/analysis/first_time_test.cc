#include "profiler/analysis/first_time.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

TestTrace FromHundredOn() {
  TestTrace t;
  t.SetWindow(100, 200);
  t.AddThread(1, 1, "main");
  return t;
}

TEST(FirstTimeTest, ItIsTheStartOfTheRecordingIfNothingIsEarlier) {
  TestTrace t = FromHundredOn();
  t.AddRange(0, "r", 150, 160);
  EXPECT_EQ(FirstTimeNs(std::move(t).Build()), 100);
}

TEST(FirstTimeTest, AnythingMayBeEarlier) {
  TestTrace range = FromHundredOn();
  range.AddRange(0, "r", 90, 160);
  EXPECT_EQ(FirstTimeNs(std::move(range).Build()), 90);
  TestTrace sample = FromHundredOn();
  sample.AddSample(0, 80, 1, {"f"});
  EXPECT_EQ(FirstTimeNs(std::move(sample).Build()), 80);
  TestTrace counter = FromHundredOn();
  counter.AddCounter(0, "c", 70, 1);
  EXPECT_EQ(FirstTimeNs(std::move(counter).Build()), 70);
  TestTrace wait = FromHundredOn();
  wait.AddWait({.begin_ns = 60, .duration_ns = 1});
  EXPECT_EQ(FirstTimeNs(std::move(wait).Build()), 60);
  TestTrace block = FromHundredOn();
  TestMemory memory;
  memory.Allocate({.bytes = 1}, 50);
  std::move(memory).AddTo(block.data());
  EXPECT_EQ(FirstTimeNs(std::move(block).Build()), 50);
}

}  // namespace
}  // namespace kymo::analysis
