#include "tools/gate_command/hold.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Amounts Program() {
  Amounts amounts;
  amounts.Set({What::kCalls}, 128);
  amounts.Set({What::kCalls, "matmul"}, 128);
  amounts.Set({What::kAllocations}, 1000);
  amounts.Set({What::kPeakBytes}, 1 << 20);
  amounts.Set({What::kBlockingCalls}, 2);
  amounts.Set({What::kBlockingCalls, "read"}, 2);
  amounts.Set({What::kSystemCalls}, 50);
  amounts.Set({What::kCpuTimeUs, "matmul"}, 900);
  return amounts;
}

constexpr char kBudget[] = R"(
line { what: CALLS of: "matmul" expect: 128 }
line { what: ALLOCATIONS expect: 1000 }
line { what: PEAK_BYTES expect: 1048576 }
line { what: PEAK_BYTES of: "matmul" expect: 0 }
line { what: BLOCKING_CALLS expect: 2 }
line { what: BLOCKING_CALLS of: "fsync" expect: 0 }
line { what: SYSTEM_CALLS expect: 50 }
)";

Budget Read(const std::string& text) {
  return ReadBudget(text, "m.textproto").value();
}

std::vector<Held> HeldOf(const Budget& budget, const Amounts& amounts,
                         const HoldOptions& options = {}) {
  std::vector<Held> held;
  const auto lines = HoldBudget(budget, std::vector{amounts}, options);
  EXPECT_TRUE(lines.ok()) << lines.status();
  for (const HeldLine& line : *lines) held.push_back(line.held);
  return held;
}

bool IsOver(const std::string& budget, const Amounts& amounts) {
  return IsOverBudget(
      *HoldBudget(Read(budget), std::vector{amounts}, HoldOptions()));
}

TEST(HoldTest, TheSameProgramIsWithinItsBudget) {
  const Budget budget = Read(kBudget);
  EXPECT_THAT(HeldOf(budget, Program()), testing::Each(Held::kWithin));
}

// The least that must always be found.
TEST(HoldTest, PlantedChangesAreFound) {
  const std::vector<std::pair<Measure, double>> planted = {
      {{What::kCalls, "matmul"}, 129},
      {{What::kAllocations}, 1010},
      {{What::kAllocations}, 1001},
      {{What::kPeakBytes}, (1 << 20) + (64 << 10)},
      {{What::kBlockingCalls}, 3},
      {{What::kBlockingCalls, "fsync"}, 1},
  };
  for (const auto& [measure, amount] : planted) {
    Amounts amounts = Program();
    amounts.Set(measure, amount);
    EXPECT_TRUE(IsOver(kBudget, amounts)) << MeasureText(measure);
  }
}

TEST(HoldTest, WhatDependsOnTheMachineIsAdvice) {
  Amounts amounts = Program();
  amounts.Set({What::kSystemCalls}, 51);
  EXPECT_FALSE(IsOver(kBudget, amounts));
  EXPECT_TRUE(
      IsOver("line { what: SYSTEM_CALLS expect: 50 repeats: true }", amounts));
  EXPECT_FALSE(
      IsOver("line { what: SYSTEM_CALLS expect: 51 repeats: true }", amounts));
}

TEST(HoldTest, ToleranceAndLess) {
  Amounts amounts = Program();
  amounts.Set({What::kAllocations}, 1010);
  const std::string line = "line { what: ALLOCATIONS expect: 1000 tolerance: ";
  EXPECT_FALSE(IsOver(line + "0.01 }", amounts));
  EXPECT_TRUE(IsOver(line + "0.009 }", amounts));
  amounts.Set({What::kAllocations}, 3);
  EXPECT_THAT(HeldOf(Read(line + "0 }"), amounts), ElementsAre(Held::kBetter));
}

// It would be above its budget in half of the runs.
TEST(HoldTest, ATimeWithoutConfidenceIsShown) {
  const Budget budget = Read(
      "line { what: CPU_TIME_US of: \"matmul\" expect: 600 }"
      "line { what: ALLOCATIONS expect: 1000 }");
  const auto lines = HoldBudget(budget, std::vector{Program()}, HoldOptions());
  EXPECT_EQ((*lines)[0].held, Held::kShown);
  EXPECT_EQ((*lines)[0].why, "900 us; the budget has 600 us (+50.00 %)");
  EXPECT_THAT(HeldText(*lines, budget), HasSubstr("0 not held, 1 shown\n"));
}

TEST(HoldTest, OverSaysTheLimit) {
  const auto lines =
      HoldBudget(Read("line { what: ALLOCATIONS expect: 500 tolerance: 0.1 }"),
                 std::vector{Program()}, HoldOptions());
  EXPECT_EQ((*lines)[0].why,
            "1000 is more than 550, which is 500 and its tolerance of 10 % "
            "(+100.00 %)");
}

TEST(HoldTest, ARecordingIsOneRun) {
  const Budget budget = Read(
      "runs: 5 line { what: CPU_TIME_US of: \"matmul\" expect: 1 min_effect: 0 "
      "confidence: 0.95 } line { what: ALLOCATIONS expect: 1000 }");
  const HoldOptions options = {.is_recording = true};
  EXPECT_THAT(HeldOf(budget, Program(), options),
              ElementsAre(Held::kNotHeld, Held::kWithin));
  const std::vector<Amounts> five(5, Program());
  EXPECT_EQ((*HoldBudget(budget, five, options))[0].held, Held::kOver);
}

TEST(HoldTest, WhatAnAdvisoryLineMissesIsAdvice) {
  EXPECT_THAT(
      HeldOf(Read("line { what: CALLS of: \"rare\" expect: 1 advisory: true }"),
             Program()),
      ElementsAre(Held::kAdvisoryOver));
}

TEST(HoldTest, CallsThatNobodyCountedAreAnError) {
  Amounts amounts;
  amounts.Set({What::kSystemCalls}, 1);
  for (const char* const text :
       {"line { what: BLOCKING_CALLS expect: 0 }",
        "line { what: BLOCKING_CALLS of: \"read\" expect: 0 }"}) {
    EXPECT_THAT(HoldBudget(Read(text), std::vector{amounts}, HoldOptions())
                    .status()
                    .message(),
                HasSubstr("cannot be counted: it is linked statically"));
  }
}

TEST(HoldTest, AnUpdateWalksAllRuns) {
  std::vector<Amounts> runs(3, Program());
  runs[1].Set({What::kCalls, "rare"}, 7);
  runs[2].Set({What::kCalls, "rare"}, 7);
  std::vector<std::string> notes;
  EXPECT_THAT(
      NewBudget(runs, {}, notes),
      HasSubstr("line { what: CALLS of: \"rare\" expect: 7 advisory: true }"));
  EXPECT_THAT(notes, ElementsAre("CALLS of rare occurs in 2 of 3 runs (0, 7, "
                                 "7): it is advisory"));
  notes.clear();
  const auto updates = UpdatesFor(
      Read("line { what: CALLS of: \"matmul\" expect: 7 advisory: true }"
           "line { what: CALLS of: \"gone\" expect: 7 advisory: true }"),
      runs, {}, notes);
  EXPECT_EQ(updates->size(), 1u);
  EXPECT_THAT(notes,
              ElementsAre("CALLS of matmul repeats now: remove `advisory: "
                          "true` to hold it",
                          HasSubstr("CALLS of gone occurs in none of 3 runs")));
}

TEST(HoldTest, ARecordingIsHeldToWhatItCanTell) {
  const HoldOptions options = {.is_recording = true};
  EXPECT_THAT(HeldOf(Read("line { what: ALLOCATIONS expect: 1000 }"
                          "line { what: SYSTEM_CALLS expect: 1 }"),
                     Program(), options),
              ElementsAre(Held::kWithin, Held::kNotHeld));
  EXPECT_THAT(HoldBudget(Read("line { what: SYSTEM_CALLS expect: 1 }"),
                         std::vector{Program()}, options)
                  .status()
                  .message(),
              HasSubstr("name the program instead of the recording"));
}

TEST(HoldTest, AnUpdateKeepsLinesThatRepeatWithinTheirTolerance) {
  std::vector<Amounts> runs(3);
  for (int i = 0; i < 3; ++i) runs[i].Set({What::kSystemCalls}, 101 + i);
  std::vector<std::string> notes;
  const auto update = [&](const std::string& text) {
    notes.clear();
    return UpdatesFor(Read(text), runs, HoldOptions(), notes).value()[0];
  };
  EXPECT_TRUE(update("line { what: SYSTEM_CALLS expect: 90 repeats: true "
                     "tolerance: 0.2 }")
                  .repeats);
  EXPECT_THAT(notes, testing::IsEmpty());
  EXPECT_FALSE(
      update("line { what: SYSTEM_CALLS expect: 90 repeats: true }").repeats);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("it is advisory")));
}

TEST(HoldTest, TimesNeedToBeSure) {
  const Budget budget = Read(
      "runs: 5 line { what: CPU_TIME_US expect: 900 min_effect: 0.1 "
      "confidence: 0.95 }");
  const auto is_over = [&](const std::vector<double>& times) {
    std::vector<Amounts> runs;
    for (const double time : times) {
      runs.emplace_back().Set({What::kCpuTimeUs}, time);
    }
    return IsOverBudget(*HoldBudget(budget, runs, HoldOptions()));
  };
  EXPECT_TRUE(is_over({1100, 1110, 1120, 1130, 1140}));
  EXPECT_FALSE(is_over({980, 970, 985, 975, 980}));    // less than 10 % more
  EXPECT_FALSE(is_over({800, 900, 1100, 1500, 900}));  // not sure
}

TEST(HoldTest, WhatIsNotThereIsAnErrorThatListsWhatIs) {
  const auto error = [](const std::string& text) {
    return std::string(
        HoldBudget(Read(text), std::vector{Program()}, HoldOptions())
            .status()
            .message());
  };
  EXPECT_EQ(error("line { what: CALLS of: \"matmull\" expect: 1 }"),
            "m.textproto:1: the program has no CALLS of matmull; it has 1: "
            "matmul; did you mean matmul?");
  EXPECT_THAT(error("line { what: BLOCKING_CALLS of: \"reed\" expect: 1 }"),
              HasSubstr("did you mean read?"));
  EXPECT_THAT(error("line { what: TEMPORARY_ALLOCATIONS expect: 1 }"),
              HasSubstr("record it with --profile_memory"));
  EXPECT_THAT(error(""), HasSubstr("m.textproto has no line; to write it"));
}

Amounts AmountsOf(TestTrace&& t) {
  Amounts amounts;
  AddAmountsOf(std::move(t).Build(), amounts);
  return amounts;
}

// 0 is less than any budget, and nobody counted.
TEST(HoldTest, CallsOfWhatWasNotRecordedAreAnError) {
  TestTrace other;
  other.AddProcess(1, "sh");
  other.data().ledger.Add(model::Loss::kProcessesNotRecorded, 1);
  TestTrace idle;
  idle.AddProcess(1, "idle");
  const Amounts idle_amounts = AmountsOf(std::move(idle));
  for (const Amounts& none :
       {AmountsOf(TestTrace()), AmountsOf(std::move(other))}) {
    for (const char* const text : {"line { what: CALLS expect: 500 }",
                                   "line { what: CPU_TIME_US expect: 500 }"}) {
      const Budget budget = Read(text);
      std::vector<std::string> notes;
      EXPECT_THAT(HoldBudget(budget, std::vector{none}, {}).status().message(),
                  HasSubstr("cannot be known: the recording has no range"));
      EXPECT_FALSE(
          HoldBudget(budget, std::vector{idle_amounts, none}, {}).ok());
      EXPECT_FALSE(UpdatesFor(budget, std::vector{none}, {}, notes).ok());
      EXPECT_TRUE(HoldBudget(budget, std::vector{idle_amounts}, {}).ok());
    }
    std::vector<std::string> notes;
    EXPECT_EQ(NewBudget(std::vector{none}, {}, notes), "");
    EXPECT_THAT(notes, ElementsAre(HasSubstr("CALLS cannot be known")));
  }
}

TEST(HoldTest, LeaksTakeStacks) {
  const auto leak = [](bool has_stack) {
    TestTrace t;
    t.AddProcess(1, "app");
    const model::TrackIndex main = t.AddThread(1, 1, "main");
    const model::StackId stack =
        has_stack ? t.Stack({"main", "f"}) : model::kEmptyStack;
    TestMemory memory;
    memory.Allocate({.track = main, .bytes = 64, .stack = stack}, 10);
    std::move(memory).AddTo(t.data());
    return std::vector{AmountsOf(std::move(t))};
  };
  const Budget budget = Read("line { what: LEAKS expect: 1 }");
  EXPECT_TRUE(HoldBudget(budget, leak(true), {}).ok());
  EXPECT_THAT(HoldBudget(budget, leak(false), {}).status().message(),
              HasSubstr("LEAKS takes the stacks of allocations"));
}

TEST(HoldTest, LargeCountsAreExact) {
  Amounts amounts;
  amounts.Set({What::kAllocatedBytes}, 20000000001);
  EXPECT_TRUE(
      IsOver("line { what: ALLOCATED_BYTES expect: 20000000000 }", amounts));
}

TEST(HoldTest, TextsMoveNoCursor) {
  const Budget budget =
      Read("line { what: CALLS of: \"\\033[2J\" expect: 1 advisory: true }");
  const auto lines = HoldBudget(budget, std::vector{Program()}, HoldOptions());
  EXPECT_THAT(HeldText(*lines, budget), testing::Not(HasSubstr("\033")));
}

TEST(HoldTest, ShardsAndFilters) {
  const Budget budget = Read(
      "line { what: ALLOCATIONS expect: 1000 shard: 0 }"
      "line { what: ALLOCATIONS expect: 1 shard: 1 }");
  EXPECT_THAT(HeldOf(budget, Program(), {.shard = 0}),
              ElementsAre(Held::kWithin, Held::kNotHeld));
  EXPECT_THAT(HeldOf(budget, Program(), {.shard = 0, .is_filtered = true}),
              ElementsAre(Held::kNotHeld, Held::kNotHeld));
  EXPECT_FALSE(HoldBudget(budget, std::vector{Program()}, {.shard = 7}).ok());
}

TEST(HoldTest, XmlHasACaseForEachLine) {
  const Budget budget = Read(
      "line { what: CALLS of: \"matmul\" expect: 127 }"
      "line { what: ALLOCATIONS expect: 1000 }");
  const auto lines = HoldBudget(budget, std::vector{Program()}, HoldOptions());
  const std::string xml = HeldXml(*lines, budget, "a<b");
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"a&lt;b\" tests=\"2\" "
                             "failures=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"128 is more than 127 "
                             "(+0.79 %)\"/></testcase>"));
  EXPECT_THAT(xml, HasSubstr("name=\"ALLOCATIONS\""));
}

TEST(HoldTest, UpdateSaysWhatDoesNotRepeat) {
  std::vector<Amounts> runs(3, Program());
  runs[1].Set({What::kAllocations}, 1003);
  runs[2].Set({What::kSystemCalls}, 51);
  const Budget budget = Read(kBudget);
  std::vector<std::string> notes;
  const auto updates = UpdatesFor(budget, runs, {}, notes);
  ASSERT_TRUE(updates.ok()) << updates.status();
  EXPECT_EQ((*updates)[1].expect, 1003);
  EXPECT_TRUE((*updates)[1].advisory);
  EXPECT_FALSE((*updates)[0].advisory);
  EXPECT_FALSE((*updates)[6].repeats);
  EXPECT_THAT(notes,
              ElementsAre("ALLOCATIONS does not repeat here (1000, 1003, "
                          "1000): it is advisory",
                          "SYSTEM_CALLS does not repeat here (50, 50, 51): it "
                          "is advisory"));
}

TEST(HoldTest, NewBudgetHoldsTheProgram) {
  std::vector<std::string> notes;
  const std::string text =
      NewBudget(std::vector<Amounts>(3, Program()), {}, notes);
  EXPECT_THAT(text, HasSubstr("SYSTEM_CALLS expect: 50 repeats: true"));
  EXPECT_THAT(text, testing::Not(HasSubstr("CPU_TIME")));
  EXPECT_THAT(HeldOf(Read(text), Program()), testing::Each(Held::kWithin));
  EXPECT_TRUE(notes.empty());
}

}  // namespace
}  // namespace kymo::tools
