#include "profiler/analysis/open_events.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::kNoEvent;

//   0 outer    [10 ............. 100]
//   1 inner         [20 .. 30]
//   2 instant                 40
//   3 async          [50 .................. 200]
//   4 next                                      [150 160]
class OpenEventsTest : public testing::Test {
 protected:
  OpenEventsTest() : trace_(Make()) {}

  static model::Trace Make() {
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    t.AddRange(main, "outer", 10, 100);
    t.AddRange(main, "inner", 20, 30);
    t.AddInstant(main, "instant", 40);
    t.AddRange(main, "async", 50, 200, model::ActivityType::kCpuOp,
               model::kEventAsync);
    t.AddRange(main, "next", 150, 160);
    return std::move(t).Build();
  }

  const model::Trace trace_;
};

TEST_F(OpenEventsTest, FollowsTime) {
  OpenEvents open(trace_, 0, 0);
  const std::vector<std::pair<TimeNs, EventIndex>> expected = {
      {5, kNoEvent}, {10, 0},  {20, 1},         {30, 1},  {31, 0},
      {40, 0},       {100, 0}, {101, kNoEvent}, {150, 4}, {161, kNoEvent}};
  for (const auto& [time, event] : expected) {
    EXPECT_EQ(open.InnermostAt(time), event) << time;
  }
}

TEST_F(OpenEventsTest, BeginsAnywhere) {
  for (TimeNs from = 0; from < 210; ++from) {
    OpenEvents from_the_start(trace_, 0, 0);
    OpenEvents from_here(trace_, 0, from);
    EXPECT_EQ(from_here.InnermostAt(from), from_the_start.InnermostAt(from))
        << from;
  }
}

TEST_F(OpenEventsTest, ATrackWithoutEventsHasNone) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(OpenEvents(trace, 0, 0).InnermostAt(10), kNoEvent);
}

}  // namespace
}  // namespace kymo::analysis
