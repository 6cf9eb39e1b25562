#include "profiler/session/step_machine.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kymo {
namespace {

// Writes down its calls: P, S, T, R, "[3" for a range, "]".
class FakeRecorder : public CycleRecorder {
 public:
  absl::Status PrepareTrace() override { return Call('P'); }
  absl::Status StartTrace() override { return Call('S'); }
  absl::Status StopTrace() override { return Call('T'); }
  absl::Status TraceReady() override { return Call('R'); }
  void BeginStepRange(int64_t step) override {
    absl::StrAppend(&calls, "[", step);
  }
  void EndStepRange() override { calls += ']'; }
  void Warn(std::string_view text) override {
    if (text.starts_with("Profiler won't be using warmup")) {
      ++warmup_warnings;
    } else {
      warnings.push_back(std::string(text));
    }
  }

  int warmup_warnings = 0;
  std::string calls;
  std::vector<std::string> warnings;
  char failing = 0;

 private:
  absl::Status Call(char letter) {
    calls += letter;
    return letter == failing ? absl::UnavailableError("no") : absl::OkStatus();
  }
};

// The calls of each change between two actions.
class Transition : public FakeRecorder {
 public:
  std::string Run(ProfilerAction from, ProfilerAction to) {
    StepMachine machine(
        this, [=](const StepInfo& info) { return info.step == 0 ? from : to; },
        [] { return TimeNs{0}; });
    EXPECT_TRUE(machine.Start().ok());
    calls.clear();
    EXPECT_TRUE(machine.Step().ok());
    std::string made;
    for (const char c : calls) {
      if (c >= 'P' && c <= 'T') made += c;
    }
    return made;
  }
};

TEST(StepMachineTest, EveryTransition) {
  constexpr ProfilerAction kActions[] = {
      ProfilerAction::kNone, ProfilerAction::kWarmup, ProfilerAction::kRecord,
      ProfilerAction::kRecordAndSave};
  const char* const expected[4][4] = {{"", "P", "PS", "PS"},
                                      {"ST", "", "S", "S"},
                                      {"T", "TP", "", ""},
                                      {"TR", "TRP", "TRPS", "TRPS"}};
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      Transition transition;
      EXPECT_EQ(transition.Run(kActions[from], kActions[to]),
                expected[from][to])
          << from << " to " << to;
      const bool incorrect = (from == 1 && to == 0) || (from == 2 && to < 2);
      EXPECT_EQ(transition.warnings.empty(), !incorrect);
    }
  }
}

TEST(StepMachineTest, IncorrectSchedulesAreWarnedInPyTorchsWords) {
  const auto warning = [](ProfilerAction from, ProfilerAction to) {
    Transition transition;
    transition.Run(from, to);
    return transition.warnings.at(0);
  };
  EXPECT_EQ(warning(ProfilerAction::kWarmup, ProfilerAction::kNone),
            "Incorrect schedule: WARMUP followed by NONE");
  EXPECT_EQ(warning(ProfilerAction::kRecord, ProfilerAction::kNone),
            "Incorrect schedule: RECORD followed by NONE");
  EXPECT_EQ(warning(ProfilerAction::kRecord, ProfilerAction::kWarmup),
            "Incorrect schedule: RECORD followed by WARMUP");
}

TEST(StepMachineTest, StopFinishesWhatIsGoingOn) {
  const std::map<ProfilerAction, std::string> expected = {
      {ProfilerAction::kNone, ""},
      {ProfilerAction::kWarmup, "ST"},
      {ProfilerAction::kRecord, "TR"},
      {ProfilerAction::kRecordAndSave, "TR"}};
  for (const auto& [action, calls] : expected) {
    FakeRecorder recorder;
    StepMachine machine(
        &recorder, [action = action](const StepInfo&) { return action; },
        [] { return TimeNs{0}; });
    ASSERT_TRUE(machine.Start().ok());
    recorder.calls.clear();
    ASSERT_TRUE(machine.Stop().ok());
    EXPECT_EQ(recorder.calls, "]" + calls);
  }
}

TEST(StepMachineTest, PyTorchsSequenceOfSteps) {
  FakeRecorder recorder;
  StepMachine machine(
      &recorder,
      *MakeSchedule({.wait = 1, .warmup = 1, .active = 2, .repeat = 1}),
      [] { return TimeNs{0}; });
  ASSERT_TRUE(machine.Start().ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(machine.Step().ok());
  EXPECT_EQ(machine.step_num(), 5);
  ASSERT_TRUE(machine.Stop().ok());
  EXPECT_EQ(recorder.calls, "[0]P[1]S[2][3]TR[4][5]");
  EXPECT_TRUE(recorder.warnings.empty());
}

TEST(StepMachineTest, WithoutAScheduleThereIsOneTraceAndNoRanges) {
  FakeRecorder recorder;
  StepMachine machine(&recorder, std::nullopt, [] { return TimeNs{0}; });
  ASSERT_TRUE(machine.Start().ok());
  ASSERT_TRUE(machine.Step().ok());
  ASSERT_TRUE(machine.Step().ok());
  EXPECT_EQ(machine.step_num(), 2);
  ASSERT_TRUE(machine.Stop().ok());
  EXPECT_EQ(recorder.calls, "PSTR");
}

TEST(StepMachineTest, NoWarmupIsWorthOneWarning) {
  for (const int64_t warmup : {0, 1}) {
    FakeRecorder recorder;
    StepMachine machine(&recorder,
                        *MakeSchedule({.warmup = warmup, .active = 1}),
                        [] { return TimeNs{0}; });
    ASSERT_TRUE(machine.Start().ok());
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(machine.Step().ok());
    ASSERT_TRUE(machine.Stop().ok());
    EXPECT_EQ(recorder.warmup_warnings, warmup == 0 ? 1 : 0);
  }
}

TEST(StepMachineTest, ReadySeesTheStepThatComesNext) {
  struct Recorder : FakeRecorder {
    absl::Status TraceReady() override {
      seen.push_back(machine->step_num());
      return absl::OkStatus();
    }
    StepMachine* machine = nullptr;
    std::vector<int64_t> seen;
  };
  Recorder recorder;
  StepMachine machine(
      &recorder,
      *MakeSchedule(
          {.wait = 1, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 1}),
      [] { return TimeNs{0}; });
  recorder.machine = &machine;
  ASSERT_TRUE(machine.Start().ok());
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(machine.Step().ok());
  ASSERT_TRUE(machine.Stop().ok());
  EXPECT_EQ(recorder.seen, (std::vector<int64_t>{5, 9}));
}

TEST(StepMachineTest, HandlersErrorIsReturnedAndTheNextCycleRecorded) {
  FakeRecorder recorder;
  recorder.failing = 'R';
  StepMachine machine(&recorder, *MakeSchedule({.active = 1}),
                      [] { return TimeNs{0}; });
  ASSERT_TRUE(machine.Start().ok());
  EXPECT_EQ(machine.Step().message(), "no");
  EXPECT_EQ(recorder.calls, "PS[0]TRPS[1");
  EXPECT_EQ(machine.step_num(), 1);
}

TEST(StepMachineTest, ErrorEndsItsCycleOnly) {
  FakeRecorder recorder;
  StepMachine machine(&recorder, *MakeSchedule({.warmup = 1, .active = 1}),
                      [] { return TimeNs{0}; });
  ASSERT_TRUE(machine.Start().ok());
  ASSERT_TRUE(machine.Step().ok());
  recorder.calls.clear();
  recorder.failing = 'T';
  EXPECT_EQ(machine.Step().message(), "no");
  EXPECT_EQ(recorder.calls, "]TP[2");
  recorder.failing = 0;
  EXPECT_TRUE(machine.Step().ok());
  EXPECT_TRUE(machine.Stop().ok());
  EXPECT_EQ(recorder.calls, "]TP[2]S[3]TR");
}

TEST(StepMachineTest, NextCyclesPrepareErrorLeavesOutItsStart) {
  FakeRecorder recorder;
  StepMachine machine(&recorder, *MakeSchedule({.active = 1}),
                      [] { return TimeNs{0}; });
  ASSERT_TRUE(machine.Start().ok());
  recorder.calls.clear();
  recorder.failing = 'P';
  EXPECT_EQ(machine.Step().message(), "no");
  EXPECT_EQ(recorder.calls, "]TRP[1");
}

TEST(StepMachineTest, StartThatFailsCanBeTriedAgain) {
  FakeRecorder recorder;
  recorder.failing = 'S';
  StepMachine machine(&recorder, *MakeSchedule({.active = 1}),
                      [] { return TimeNs{0}; });
  EXPECT_EQ(machine.Start().message(), "no");
  EXPECT_FALSE(machine.is_running());
  EXPECT_EQ(machine.current_action(), ProfilerAction::kNone);
  EXPECT_EQ(recorder.calls, "PS");
  recorder.failing = 0;
  EXPECT_TRUE(machine.Start().ok());
  EXPECT_EQ(recorder.calls, "PSPS[0");
}

TEST(StepMachineTest, AnswersThatAreNoActionLeaveTheMachineInItsStep) {
  FakeRecorder recorder;
  StepMachine machine(
      &recorder,
      [](const StepInfo& info) {
        return info.step == 0 ? ProfilerAction::kRecord : ProfilerAction{4};
      },
      [] { return TimeNs{0}; });
  ASSERT_TRUE(machine.Start().ok());
  EXPECT_EQ(machine.Step().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(machine.step_num(), 0);
  EXPECT_TRUE(machine.Stop().ok());
  EXPECT_EQ(recorder.calls, "PS[0]TR");
}

TEST(StepMachineTest, SecondRunCountsFromZero) {
  FakeRecorder recorder;
  StepMachine machine(&recorder, *MakeSchedule({.wait = 1, .active = 1}),
                      [] { return TimeNs{0}; });
  for (int run = 0; run < 2; ++run) {
    recorder.calls.clear();
    ASSERT_TRUE(machine.Start().ok());
    ASSERT_TRUE(machine.Step().ok());
    ASSERT_TRUE(machine.Stop().ok());
    EXPECT_EQ(recorder.calls, "[0]PS[1]TR");
  }
}

TEST(StepMachineTest, SchedulesMayLookAtTheClock) {
  FakeRecorder recorder;
  TimeNs now = 1000;
  StepMachine machine(
      &recorder,
      [](const StepInfo& info) {
        return info.elapsed_ns < 50 ? ProfilerAction::kNone
                                    : ProfilerAction::kRecordAndSave;
      },
      [&] { return now; });
  ASSERT_TRUE(machine.Start().ok());
  now += 10;
  ASSERT_TRUE(machine.Step().ok());
  EXPECT_EQ(machine.current_action(), ProfilerAction::kNone);
  now += 50;
  ASSERT_TRUE(machine.Step().ok());
  EXPECT_EQ(machine.current_action(), ProfilerAction::kRecordAndSave);
}

TEST(StepMachineTest, CallsOutOfOrderAreRefused) {
  FakeRecorder recorder;
  StepMachine machine(&recorder, std::nullopt, [] { return TimeNs{0}; });
  EXPECT_FALSE(machine.Step().ok());
  EXPECT_FALSE(machine.Stop().ok());
  ASSERT_TRUE(machine.Start().ok());
  EXPECT_EQ(machine.Start().message(),
            "Profiler context manager is not reentrant");
}

TEST(StepMachineTest, ProgramThatNeverRecordsIsWarned) {
  FakeRecorder recorder;
  StepMachine machine(&recorder, *MakeSchedule({.wait = 2, .warmup = 1}),
                      [] { return TimeNs{0}; });
  // A run that records says nothing of the next one.
  ASSERT_TRUE(machine.Start().ok());
  for (int step = 0; step < 4; ++step) ASSERT_TRUE(machine.Step().ok());
  ASSERT_TRUE(machine.Stop().ok());
  EXPECT_TRUE(recorder.warnings.empty());
  ASSERT_TRUE(machine.Start().ok());
  ASSERT_TRUE(machine.Step().ok());
  ASSERT_TRUE(machine.Stop().ok());
  ASSERT_EQ(recorder.warnings.size(), 1);
  EXPECT_NE(recorder.warnings[0].find("stopped after 2 step(s)"),
            std::string::npos);
}

}  // namespace
}  // namespace kymo
