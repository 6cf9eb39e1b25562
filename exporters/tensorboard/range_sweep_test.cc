#include "exporters/tensorboard/range_sweep.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::tensorboard {
namespace {

using ::testing::ElementsAre;

// A visitor that keeps the calls that it gets, as texts.
struct Log {
  const model::Trace& trace;
  std::vector<std::string> calls = {};

  void Enter(model::EventIndex event) {
    calls.push_back("+" + std::string(trace.EventName(event)));
  }
  void Leave(model::EventIndex event, DurationNs self_ns) {
    calls.push_back("-" + std::string(trace.EventName(event)) + " " +
                    std::to_string(self_ns));
  }
  void Memory(model::MemoryIndex record) {
    calls.push_back("m" + std::to_string(trace.memory()[record].bytes));
  }
};

std::vector<std::string> Sweep(TestTrace t) {
  const model::Trace trace = std::move(t).Build();
  Log log{trace};
  SweepRanges(trace, log);
  return log.calls;
}

void AddMemory(TestTrace& t, model::TrackIndex track, TimeNs time_ns,
               int64_t bytes) {
  t.data().memory.push_back(
      {.track = track, .time_ns = time_ns, .bytes = bytes});
}

TEST(RangeSweepTest, RangesBeginAndEndWithTheirSelfTimes) {
  TestTrace t;
  const auto a = t.AddThread(1, 1, "a");
  t.AddRange(a, "step", 0, 100);
  t.AddRange(a, "f", 10, 40);
  t.AddInstant(a, "mark", 15);
  t.AddRange(a, "async", 20, 200, model::ActivityType::kCpuOp,
             model::kEventAsync);
  t.AddRange(a, "g", 40, 50);
  const auto b = t.AddThread(1, 2, "b");
  t.AddRange(b, "h", 5, 6);
  EXPECT_THAT(Sweep(std::move(t)),
              ElementsAre("+step", "+f", "-f 30", "+g", "-g 10", "-step 60",
                          "+h", "-h 1"));
}

TEST(RangeSweepTest, RecordsComeWithinTheirInnermostRange) {
  TestTrace t;
  const auto a = t.AddThread(1, 1, "a");
  t.AddRange(a, "f", 10, 40);
  t.AddRange(a, "g", 20, 30);
  t.AddRange(a, "h", 50, 60);
  const auto b = t.AddThread(1, 2, "b");
  AddMemory(t, a, 5, 1);
  AddMemory(t, a, 10, 2);  // bounds included
  AddMemory(t, a, 30, 3);
  AddMemory(t, a, 31, 4);
  AddMemory(t, a, 45, 5);
  AddMemory(t, a, 70, 6);
  AddMemory(t, b, 0, 7);
  EXPECT_THAT(Sweep(std::move(t)),
              ElementsAre("m1", "+f", "m2", "+g", "m3", "-g 10", "m4", "-f 20",
                          "m5", "+h", "-h 10", "m6", "m7"));
}

}  // namespace
}  // namespace kymo::tensorboard
