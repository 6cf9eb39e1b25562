#include "profiler/session/schedule.h"

#include <gtest/gtest.h>

#include <string>

namespace kymo {
namespace {

// Actions of steps 0 to `steps` - 1: N none, W warmup, R record, S
// record-and-save.
std::string Actions(const ScheduleOptions& options, int steps) {
  const absl::StatusOr<Schedule> schedule = MakeSchedule(options);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  std::string actions;
  for (int step = 0; step < steps; ++step) {
    actions += "NWRS"[static_cast<int>((*schedule)(StepInfo{.step = step}))];
  }
  return actions;
}

TEST(ScheduleTest, PyTorchsTables) {
  EXPECT_EQ(Actions({.wait = 1, .warmup = 1, .active = 2, .repeat = 1}, 7),
            "NWRSNNN");
  EXPECT_EQ(Actions({.wait = 1, .warmup = 1, .active = 2}, 8), "NWRSNWRS");
  const ScheduleOptions skipping = {
      .wait = 1, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 2};
  EXPECT_EQ(Actions(skipping, 11), "NNNWRSNWRSN");
  ScheduleOptions without_wait = skipping;
  without_wait.skip_first_wait = 1;
  EXPECT_EQ(Actions(without_wait, 11), "NNWRSNWRSNN");
  EXPECT_EQ(Actions({.active = 1}, 4), "SSSS");
  EXPECT_EQ(Actions({.warmup = 1, .active = 1, .repeat = 1}, 4), "WSNN");
}

TEST(ScheduleTest, NumbersThatAreNoneAreRefusedInPyTorchsWords) {
  EXPECT_EQ(MakeSchedule({.wait = -1, .active = 0}).status().message(),
            "Invalid profiler schedule arguments. Got wait=-1 (need >= 0), "
            "warmup=0 (need >= 0), active=0 (need > 0), repeat=0 (need >= 0), "
            "skip_first=0 (need >= 0).");
  EXPECT_FALSE(MakeSchedule({.skip_first_wait = -1}).ok());
  EXPECT_EQ(ScheduleWarning({.warmup = 0}),
            "Profiler won't be using warmup, this can skew profiler results");
  EXPECT_EQ(ScheduleWarning({.warmup = 1}), "");
}

TEST(ScheduleTest, TimedScheduleRecordsTheBeginningOfEachPeriod) {
  absl::StatusOr<Schedule> schedule = MakeTimedSchedule(25, 100);
  ASSERT_TRUE(schedule.ok());
  std::string actions;
  for (int step = 0; step < 21; ++step) {
    actions += "NWRS"[static_cast<int>(
        (*schedule)(StepInfo{.step = step, .elapsed_ns = 10 * step}))];
  }
  EXPECT_EQ(actions, "RRRSWWWWWWRRRSWWWWWWR");
  EXPECT_FALSE(MakeTimedSchedule(100, 100).ok());
  EXPECT_FALSE(MakeTimedSchedule(0, 100).ok());
}

TEST(ScheduleTest, ReadsTheTextOfAFlag) {
  const auto options = ParseSchedule("wait=1,active=3,repeat=2");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->wait, 1);
  EXPECT_EQ(options->active, 3);
  EXPECT_EQ(options->repeat, 2);
  for (const char* const broken : {"", "wait", "wait=", "wait=x", "rest=1",
                                   "active=0", "wait=1;active=2", "wait=-1"}) {
    EXPECT_EQ(ParseSchedule(broken).status().code(),
              absl::StatusCode::kInvalidArgument)
        << broken;
  }
}

}  // namespace
}  // namespace kymo
