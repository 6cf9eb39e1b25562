#include "profiler/session/schedule.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace kymo {
namespace {

constexpr int64_t kSteps = 24;

char Letter(ProfilerAction action) { return "NWRS"[static_cast<int>(action)]; }

// The actions of steps 0 to 23: None, Warmup, Record, record and Save.
std::string Actions(std::string_view text) {
  const absl::StatusOr<ScheduleOptions> options = ParseSchedule(text);
  if (!options.ok()) return options.status().ToString();
  const absl::StatusOr<Schedule> schedule = MakeSchedule(*options);
  if (!schedule.ok()) return schedule.status().ToString();
  std::string actions;
  for (int64_t step = 0; step < kSteps; ++step) {
    actions += Letter((*schedule)({.step = step}));
  }
  return actions;
}

// The actions of steps that begin at these times.
std::string ActionsAt(Schedule& schedule,
                      std::initializer_list<DurationNs> times_ns) {
  std::string actions;
  int64_t step = 0;
  for (const DurationNs elapsed_ns : times_ns) {
    actions += Letter(schedule({.step = step++, .elapsed_ns = elapsed_ns}));
  }
  return actions;
}

std::string ErrorOf(const ScheduleOptions& options) {
  const absl::StatusOr<Schedule> schedule = MakeSchedule(options);
  EXPECT_EQ(schedule.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(schedule.status().message());
}

std::string ParseError(std::string_view text) {
  const absl::StatusOr<ScheduleOptions> options = ParseSchedule(text);
  EXPECT_EQ(options.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(options.status().message());
}

TEST(ScheduleTest, HeaderExample) {
  const absl::StatusOr<Schedule> schedule =
      MakeSchedule({.wait = 1, .warmup = 1, .active = 3, .repeat = 2});
  ASSERT_TRUE(schedule.ok());
  EXPECT_EQ(*AskSchedule(*schedule, {.step = 4}),
            ProfilerAction::kRecordAndSave);
}

// The answers of PyTorch 2.14.
TEST(ScheduleTest, AnswersAsPyTorch) {
  const std::pair<std::string_view, std::string_view> tables[] = {
      {"wait=0,warmup=0,active=1,repeat=0,skip_first=0",
       "SSSSSSSSSSSSSSSSSSSSSSSS"},
      {"wait=1,warmup=1,active=1,repeat=0,skip_first=0",
       "NWSNWSNWSNWSNWSNWSNWSNWS"},
      {"wait=2,warmup=1,active=3,repeat=2,skip_first=0",
       "NNWRRSNNWRRSNNNNNNNNNNNN"},
      {"wait=0,warmup=1,active=2,repeat=1,skip_first=3",
       "NNNWRSNNNNNNNNNNNNNNNNNN"},
      {"wait=5,warmup=0,active=2,repeat=0,skip_first=1",
       "NNNNNNRSNNNNNRSNNNNNRSNN"},
      {"wait=1,warmup=2,active=1,repeat=3,skip_first=2",
       "NNNWWSNWWSNWWSNNNNNNNNNN"},
      {"wait=1,warmup=0,active=1,repeat=2,skip_first=2,skip_first_wait=0",
       "NNNSNSNNNNNNNNNNNNNNNNNN"},
      {"wait=1,warmup=0,active=1,repeat=2,skip_first=2,skip_first_wait=1",
       "NNSNSNNNNNNNNNNNNNNNNNNN"},
      {"wait=2,warmup=1,active=1,repeat=0,skip_first=5,skip_first_wait=2",
       "NNNNNWSNNWSNNWSNNWSNNWSN"},
      {"wait=0,warmup=1,active=1,repeat=3,skip_first=1,skip_first_wait=3",
       "NWSWSWSNNNNNNNNNNNNNNNNN"},
      {"wait=1,warmup=1,active=2,repeat=1", "NWRSNNNNNNNNNNNNNNNNNNNN"},
      {"wait=1,warmup=1,active=2", "NWRSNWRSNWRSNWRSNWRSNWRS"},
      {"wait=1,warmup=1,active=2,repeat=2,skip_first=2",
       "NNNWRSNWRSNNNNNNNNNNNNNN"},
      {"wait=1,warmup=1,active=2,repeat=2,skip_first=2,skip_first_wait=1",
       "NNWRSNWRSNNNNNNNNNNNNNNN"},
      {"wait=0,warmup=1,active=1,repeat=1", "WSNNNNNNNNNNNNNNNNNNNNNN"},
      {"wait=1,warmup=1,active=2,repeat=2,skip_first=1",
       "NNWRSNWRSNNNNNNNNNNNNNNN"},
  };
  for (const auto& [text, actions] : tables) {
    EXPECT_EQ(Actions(text), actions) << text;
  }
}

TEST(ScheduleTest, WrongNumbersAreRefusedInPyTorchsWords) {
  EXPECT_EQ(ErrorOf({.wait = -1, .warmup = 2, .active = 3}),
            "Invalid profiler schedule arguments. Got wait=-1 (need >= 0), "
            "warmup=2 (need >= 0), active=3 (need > 0), repeat=0 (need >= 0), "
            "skip_first=0 (need >= 0).");
  EXPECT_EQ(ErrorOf({.wait = -1, .active = 0}),
            "Invalid profiler schedule arguments. Got wait=-1 (need >= 0), "
            "warmup=0 (need >= 0), active=0 (need > 0), repeat=0 (need >= 0), "
            "skip_first=0 (need >= 0).");
  EXPECT_NE(ErrorOf({.warmup = -1}).find("warmup=-1"), std::string::npos);
  EXPECT_NE(ErrorOf({.active = 0}).find("active=0 (need > 0)"),
            std::string::npos);
  EXPECT_NE(ErrorOf({.repeat = -2}).find("repeat=-2"), std::string::npos);
  EXPECT_NE(ErrorOf({.skip_first = -7}).find("skip_first=-7"),
            std::string::npos);
}

TEST(ScheduleTest, NegativeSkipFirstWaitIsRefusedToo) {
  EXPECT_EQ(ErrorOf({.skip_first_wait = -1}),
            "Invalid profiler schedule arguments. Got skip_first_wait=-1 "
            "(need >= 0).");
}

TEST(ScheduleTest, NumbersWhoseSumOverflowsAreRefused) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_NE(ErrorOf({.wait = most}).find("Got wait=9223372036854775807"),
            std::string::npos);
  const int64_t large = int64_t{1} << 60;
  const absl::StatusOr<Schedule> schedule =
      MakeSchedule({.wait = large, .warmup = large, .active = large});
  ASSERT_TRUE(schedule.ok());
  EXPECT_EQ((*schedule)({.step = large}), ProfilerAction::kWarmup);
}

TEST(ScheduleTest, EachNumberMayBeTwoToThePowerOf60) {
  const int64_t most = int64_t{1} << 60;
  using Number = int64_t ScheduleOptions::*;
  for (const Number number :
       {&ScheduleOptions::wait, &ScheduleOptions::warmup,
        &ScheduleOptions::active, &ScheduleOptions::repeat,
        &ScheduleOptions::skip_first, &ScheduleOptions::skip_first_wait}) {
    ScheduleOptions options = {.active = 1};
    options.*number = most;
    EXPECT_TRUE(MakeSchedule(options).ok()) << options.*number;
    options.*number = most + 1;
    EXPECT_NE(ErrorOf(options).find("(need <= 1152921504606846976)"),
              std::string::npos)
        << ErrorOf(options);
  }
}

TEST(ScheduleTest, AnswersAreChecked) {
  const Schedule none = [](const StepInfo&) { return ProfilerAction::kNone; };
  EXPECT_EQ(AskSchedule(none, {.step = -1}).status(),
            absl::InvalidArgumentError("Step must be non-negative. Got -1."));
  EXPECT_EQ(AskSchedule(Schedule(), {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  const Schedule odd = [](const StepInfo&) { return ProfilerAction{4}; };
  EXPECT_EQ(AskSchedule(odd, {.step = 7}).status(),
            absl::InvalidArgumentError(
                "the schedule returned 4 for step 7: it must return one of the "
                "four ProfilerActions"));
}

TEST(ScheduleTest, AnyFunctionOfStepAndTimeIsASchedule) {
  Schedule schedule = [](const StepInfo& info) {
    return info.elapsed_ns >= 5 ? ProfilerAction::kRecord
                                : ProfilerAction::kNone;
  };
  EXPECT_EQ(ActionsAt(schedule, {0, 4, 5, 9}), "NNRR");
}

TEST(ScheduleTest, ActionsHavePyTorchsNames) {
  EXPECT_EQ(ProfilerActionName(ProfilerAction::kNone), "NONE");
  EXPECT_EQ(ProfilerActionName(ProfilerAction::kWarmup), "WARMUP");
  EXPECT_EQ(ProfilerActionName(ProfilerAction::kRecord), "RECORD");
  EXPECT_EQ(ProfilerActionName(ProfilerAction::kRecordAndSave),
            "RECORD_AND_SAVE");
}

TEST(TimedScheduleTest, RecordsOnceInEachPeriod) {
  absl::StatusOr<Schedule> schedule = MakeTimedSchedule(20, 100);
  ASSERT_TRUE(schedule.ok());
  EXPECT_EQ(ActionsAt(*schedule, {0, 10, 20, 30, 40, 99, 100, 110, 130, 140}),
            "WRRSNNWRSN");
}

TEST(TimedScheduleTest, PeriodsWithoutAStepHaveNoCycle) {
  absl::StatusOr<Schedule> schedule = MakeTimedSchedule(20, 100);
  ASSERT_TRUE(schedule.ok());
  EXPECT_EQ(ActionsAt(*schedule, {0, 10, 530, 540, 550, 590, 600}), "WRSWRSW");
}

TEST(TimedScheduleTest, EveryStartBeginsANewCycle) {
  absl::StatusOr<Schedule> schedule = MakeTimedSchedule(20, 100);
  ASSERT_TRUE(schedule.ok());
  EXPECT_EQ(ActionsAt(*schedule, {0, 10}), "WR");
  EXPECT_EQ(ActionsAt(*schedule, {0, 10, 30, 40}), "WRSN");
}

TEST(TimedScheduleTest, TimesThatMakeNoSenseAreRefused) {
  for (const auto& [active_ns, period_ns] :
       {std::pair{0, 5}, {-1, 5}, {5, 5}, {6, 5}}) {
    EXPECT_EQ(MakeTimedSchedule(active_ns, period_ns).status().code(),
              absl::StatusCode::kInvalidArgument)
        << active_ns << " of " << period_ns;
  }
}

TEST(ParseScheduleTest, ReadsAnyPartsInAnyOrder) {
  const absl::StatusOr<ScheduleOptions> options = ParseSchedule(
      "skip_first_wait=6,active=3,wait=1,warmup=2,repeat=4,skip_first=5");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->wait, 1);
  EXPECT_EQ(options->warmup, 2);
  EXPECT_EQ(options->active, 3);
  EXPECT_EQ(options->repeat, 4);
  EXPECT_EQ(options->skip_first, 5);
  EXPECT_EQ(options->skip_first_wait, 6);
  EXPECT_EQ(ParseSchedule("active=2")->active, 2);
}

TEST(ParseScheduleTest, SaysWhatIsWrong) {
  constexpr char kParts[] =
      " is not a part of a schedule; it takes "
      "wait=N,warmup=N,active=N,repeat=N,skip_first=N,skip_first_wait=N";
  EXPECT_EQ(ParseError(""), std::string("''") + kParts);
  EXPECT_EQ(ParseError("wait"), std::string("'wait'") + kParts);
  EXPECT_EQ(ParseError("wait=1,activ=3"), std::string("'activ=3'") + kParts);
  EXPECT_EQ(ParseError("wait=x"), "'wait=x': wait takes a whole number");
  EXPECT_EQ(ParseError("wait="), "'wait=': wait takes a whole number");
  EXPECT_EQ(ParseError("wait=1.5"), "'wait=1.5': wait takes a whole number");
  EXPECT_EQ(ParseError("wait=99999999999999999999"),
            "'wait=99999999999999999999': wait takes a whole number");
  EXPECT_EQ(ParseError("rest=1"), std::string("'rest=1'") + kParts);
  EXPECT_EQ(ParseError("wait=1;active=2"),
            "'wait=1;active=2': wait takes a whole number");
  EXPECT_NE(ParseError("wait=-1").find("wait=-1 (need >= 0)"),
            std::string::npos);
  EXPECT_EQ(ParseError("wait=1,wait=2"), "'wait=2': wait is given twice");
  EXPECT_NE(ParseError("active=0").find("active=0 (need > 0)"),
            std::string::npos);
}

}  // namespace
}  // namespace kymo
