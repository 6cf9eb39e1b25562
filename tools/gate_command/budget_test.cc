#include "tools/gate_command/budget.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kymo::tools {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] = R"(# What a step may take.
line { what: CALLS of: "a \"b\""  expect: 128 }  # one for each row
line { what: ALLOCATIONS expect: 1000 tolerance: 0.01, advisory: true }
line: {
  what: SYSTEM_CALLS expect: 20 repeats: true
}
line { what: CPU_TIME_US expect: 1.5 min_effect: 0.1 confidence: 0.95 shard: 2 }
runs: 10
)";

std::string ErrorOf(const std::string& text) {
  return std::string(ReadBudget(text, "x.textproto").status().message());
}

TEST(BudgetTest, ReadsLines) {
  const absl::StatusOr<Budget> budget = ReadBudget(kText, "x.textproto");
  ASSERT_TRUE(budget.ok()) << budget.status();
  EXPECT_EQ(budget->runs, 10);
  ASSERT_EQ(budget->lines.size(), 4u);
  EXPECT_EQ(budget->lines[0].measure, (Measure{What::kCalls, "a \"b\""}));
  EXPECT_EQ(budget->lines[0].expect, 128);
  EXPECT_EQ(budget->lines[0].row, 2);
  EXPECT_EQ(budget->lines[1].tolerance, 0.01);
  EXPECT_TRUE(budget->lines[1].advisory);
  EXPECT_TRUE(budget->lines[2].repeats);
  EXPECT_EQ(budget->lines[2].row, 4);
  EXPECT_EQ(budget->lines[3].min_effect, 0.1);
  EXPECT_EQ(budget->lines[3].shard, 2);
}

TEST(BudgetTest, ErrorsSayWhere) {
  EXPECT_EQ(ErrorOf("\nlime {}"),
            "x.textproto:2:1: there is no field 'lime'; it is line or runs");
  EXPECT_THAT(ErrorOf("line { what: CALS expect: 1 }"),
              HasSubstr("x.textproto:1:14: there is no 'CALS'; it is one of "
                        "CALLS, ALLOCATIONS"));
  EXPECT_THAT(ErrorOf("line { what: LEAKS expect: -1 }"),
              HasSubstr("1:28: 'expect' is '-1'; it takes a number from 0"));
  EXPECT_THAT(ErrorOf("line { what: LEAKS expect: 1"),
              HasSubstr("1:1: this line has no '}'"));
  EXPECT_THAT(ErrorOf("line { what: LEAKS }"), HasSubstr("no 'expect'"));
  EXPECT_THAT(ErrorOf("line { expect: 1 }"), HasSubstr("no 'what'"));
  EXPECT_THAT(ErrorOf("line { what: CALLS of: x expect: 1 }"),
              HasSubstr("1:24: 'of' takes a text in quotes"));
  EXPECT_THAT(ErrorOf("line { what: CALLS of: \"x"),
              HasSubstr("closing quote"));
  EXPECT_THAT(ErrorOf("line { what: CPU_SHARE expect: 1 }"),
              HasSubstr("CPU_SHARE needs `of: \"NAME\"`"));
  EXPECT_EQ(ErrorOf("line { what: LEAKS expect: 1 }\n"
                    "line { what: LEAKS expect: 2 shard: 1 }\n"
                    "line { what: LEAKS expect: 2 }"),
            "x.textproto:3:1: LEAKS has a line already, in row 1: remove one");
  EXPECT_THAT(ErrorOf("line { what: LEAKS of: \"x\" expect: 1 }"),
              HasSubstr("LEAKS is of the whole program"));
  EXPECT_THAT(ErrorOf("line { what: CPU_TIME_US expect: 1 min_effect: 1 }"),
              HasSubstr("min_effect and confidence go together"));
  EXPECT_THAT(ErrorOf("line { what: CPU_TIME_US expect: 1 min_effect: 1 "
                      "confidence: 0.9 }"),
              HasSubstr("add `runs: 10`"));
  EXPECT_THAT(ErrorOf("runs: 4 line { what: CPU_TIME_US expect: 1 min_effect: "
                      "1 confidence: 0.95 }"),
              HasSubstr("needs 5 runs or more"));
  EXPECT_THAT(ErrorOf("line { what: LEAKS expect: 1 expect: 9 }"),
              HasSubstr("1:30: 'expect' is there twice"));
  EXPECT_THAT(ErrorOf("runs: 3 runs: 4"), HasSubstr("twice"));
  EXPECT_THAT(ErrorOf("runs: 2.9"), HasSubstr("takes a whole number"));
  EXPECT_THAT(ErrorOf("line { what: LEAKS expect: 1 colour: 1 }"),
              HasSubstr("there is no field 'colour'"));
}

TEST(BudgetTest, UpdateKeepsCommentsAndTolerances) {
  const absl::StatusOr<Budget> budget = ReadBudget(kText, "x.textproto");
  ASSERT_TRUE(budget.ok());
  const std::vector<LineUpdate> updates = {
      {.line = 0, .expect = 1129, .advisory = true},
      {.line = 1, .expect = 7},
      {.line = 2, .expect = 21, .repeats = false}};
  EXPECT_EQ(UpdatedBudget(kText, updates, *budget),
            R"(# What a step may take.
line { what: CALLS of: "a \"b\""  expect: 1129 advisory: true }  # one for each row
line { what: ALLOCATIONS expect: 7 tolerance: 0.01, advisory: true }
line: {
  what: SYSTEM_CALLS expect: 21 repeats: false
}
line { what: CPU_TIME_US expect: 1.5 min_effect: 0.1 confidence: 0.95 shard: 2 }
runs: 10
)");
}

// Rows are not counted from the beginning for each line, which took minutes.
TEST(BudgetTest, LargeBudgetsAreReadAndWritten) {
  std::string text;
  std::vector<LineUpdate> updates;
  for (size_t i = 0; i < 200'000; ++i) {
    text +=
        "line { what: CALLS of: \"" + std::to_string(i) + "\" expect: 1 }\n";
    updates.push_back({.line = i, .expect = 22});
  }
  const absl::StatusOr<Budget> budget = ReadBudget(text, "x");
  ASSERT_TRUE(budget.ok()) << budget.status();
  EXPECT_EQ(budget->lines.back().row, 200'000);
  EXPECT_EQ(UpdatedBudget(text, updates, *budget).size(),
            text.size() + updates.size());
}

TEST(BudgetTest, WholeNumbersAreExact) {
  EXPECT_EQ(NumberText(123456789012345678), "123456789012345680");
  EXPECT_EQ(NumberText(0.123456), "0.1235");
  EXPECT_EQ(NumberText(12345 * 1.01), "12468.45");
}

TEST(BudgetTest, EveryNumberReadsBack) {
  const std::string text = LineText(
      {What::kFlops}, {.expect = 123456789012345678901234.0}, std::nullopt);
  const auto budget = ReadBudget(text, "b");
  ASSERT_TRUE(budget.ok()) << budget.status();
  EXPECT_EQ(budget->lines[0].expect, 123456789012345678901234.0);
}

TEST(BudgetTest, TextsSayWhatIsWrong) {
  const auto error = [](const std::string& of) {
    const std::string text = "line { what: CALLS of: " + of + " expect: 1 }";
    return std::string(ReadBudget(text, "b").status().message());
  };
  EXPECT_EQ(error("\"mm"),
            "b:1:24: the text of 'of' has no closing quote in its row");
  EXPECT_THAT(error("\"a\\q\""), HasSubstr("'of' has a wrong escape: "));
  EXPECT_TRUE(
      ReadBudget("\xEF\xBB\xBFline { what: CALLS expect: 1 }", "b").ok());
}

TEST(BudgetTest, NewLinesReadBack) {
  const std::string text =
      LineText({What::kCalls, "a\"\n"}, {.expect = 3, .advisory = true}, 1);
  const absl::StatusOr<Budget> budget = ReadBudget(text, "x");
  ASSERT_TRUE(budget.ok()) << budget.status();
  EXPECT_EQ(budget->lines[0].measure.of, "a\"\n");
  EXPECT_EQ(budget->lines[0].shard, 1);
  EXPECT_TRUE(budget->lines[0].advisory);
}

}  // namespace
}  // namespace kymo::tools
