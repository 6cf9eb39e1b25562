#include "tools/run_diff/run_diff.h"

#include <array>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/run_diff/fail_if.h"

namespace kymo::tools {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Ten runs of two ranges. `slower` is how much longer `mm` takes.
std::vector<RunAmounts> Runs(double slower, double allocations) {
  std::vector<RunAmounts> runs;
  for (int i = 0; i < 10; ++i) {
    const double noise = 1 + 0.001 * (i * 7 % 10);
    runs.push_back({{{RunTable::kRanges, "mm"}, 1000 * slower * noise},
                    {{RunTable::kRanges, "add|x"}, 500 * noise},
                    {{RunTable::kRanges, "tiny"}, 0.1},
                    {{RunTable::kCalls, "mm"}, 3},
                    {{RunTable::kHeap, "allocations"}, allocations}});
  }
  return runs;
}

const RunDiffRow& RowOf(const RunDiff& diff, RunTable table,
                        const std::string& name) {
  for (const RunDiffRow& row : diff.rows) {
    if (row.key.table == table && row.key.name == name) return row;
  }
  ADD_FAILURE() << name;
  return diff.rows[0];
}

TEST(RunKeyTest, AFileIsSaidOnce) {
  using enum RunTable;
  EXPECT_EQ(RunKeyText({kFunctions, "Get", "libx.so"}), "Get (libx.so)");
  EXPECT_EQ(RunKeyText({kFunctions, "libx.so+0x1f", "libx.so"}),
            "libx.so+0x1f");
  EXPECT_EQ(RunKeyText({kFunctions, "libx.so+0x1f", "liby.so"}),
            "libx.so+0x1f (liby.so)");
  EXPECT_EQ(RunKeyText({kRanges, "step"}), "step");
}

TEST(RunDiffTest, FindsWhatChanged) {
  const RunDiff diff = DiffRuns(Runs(1, 100), Runs(1.1, 101));
  EXPECT_EQ(RowOf(diff, RunTable::kRanges, "mm").compared.verdict,
            analysis::RunVerdict::kSlower);
  EXPECT_EQ(RowOf(diff, RunTable::kRanges, "add|x").compared.verdict,
            analysis::RunVerdict::kNoChange);
  EXPECT_EQ(RowOf(diff, RunTable::kHeap, "allocations").compared.verdict,
            analysis::RunVerdict::kSlower);
  EXPECT_EQ(RowOf(diff, RunTable::kCalls, "mm").compared.verdict,
            analysis::RunVerdict::kNoChange);
  EXPECT_EQ(diff.rows[0].key.name, "mm");
  EXPECT_EQ(diff.left_out.at(RunTable::kRanges), 1u);
  EXPECT_EQ(diff.wholes.at(RunTable::kRanges).compared.verdict,
            analysis::RunVerdict::kSlower);
}

TEST(RunDiffTest, FunctionsDifferBySamples) {
  std::vector<RunAmounts> base, head;
  for (int i = 0; i < 10; ++i) {
    base.push_back({{{RunTable::kFunctions, "hot"}, 200'000},
                    {{RunTable::kFunctions, "rare"}, 1000}});
    head.push_back({{{RunTable::kFunctions, "hot"}, 201'000}});
    base.back().sample_us = head.back().sample_us = 1000;
  }
  const RunDiff diff = DiffRuns(base, head);
  EXPECT_EQ(RowOf(diff, RunTable::kFunctions, "hot").compared.verdict,
            analysis::RunVerdict::kNoChange);
  EXPECT_EQ(RowOf(diff, RunTable::kFunctions, "rare").compared.verdict,
            analysis::RunVerdict::kTooNoisy);
}

TEST(RunDiffTest, TextSaysHowSureItIs) {
  const RunDiff diff = DiffRuns(Runs(1, 100), Runs(1.1, 101));
  const std::string text = RunDiffText(diff, RunFormat::kText);
  EXPECT_THAT(text, HasSubstr("10 runs of base, 10 of head\n\nRanges\n"));
  EXPECT_THAT(text, testing::ContainsRegex("mm +slower .*\\+10\\.0 %"));
  EXPECT_THAT(text, HasSubstr("1 with less than 0.1 %"));
  EXPECT_THAT(text, testing::ContainsRegex("allocations +more +100 +101"));
  const std::string markdown = RunDiffText(diff, RunFormat::kMarkdown);
  EXPECT_THAT(markdown, HasSubstr("| add\\|x | no change seen |"));
  EXPECT_THAT(RunDiffText(diff, RunFormat::kJson),
              HasSubstr("\"verdict\": \"slower\""));
}

TEST(RunDiffTest, SteadyTimesAreATableOfTheirOwn) {
  std::vector<RunAmounts> base = Runs(1, 100);
  std::vector<RunAmounts> head = Runs(1, 100);
  for (RunAmounts& run : base) {
    run[{RunTable::kSteady, "mm"}] = run[{RunTable::kRanges, "mm"}];
  }
  for (RunAmounts& run : head) {
    run[{RunTable::kSteady, "mm"}] = 1.1 * run[{RunTable::kRanges, "mm"}];
  }
  const RunDiff diff = DiffRuns(base, head);
  EXPECT_EQ(RowOf(diff, RunTable::kRanges, "mm").compared.verdict,
            analysis::RunVerdict::kNoChange);
  EXPECT_THAT(RunDiffText(diff, RunFormat::kText),
              testing::ContainsRegex("Ranges without disturbances\n.*\n"
                                     ".*all together.*slower.*\nmm +slower"));
  EXPECT_THAT(*Exceeded(*ParseLimits("self_cpu>5%"), diff), IsEmpty());
  EXPECT_THAT(*Exceeded(*ParseLimits("steady_cpu>5%"), diff),
              ElementsAre(HasSubstr("of (all together)"), HasSubstr("of mm")));
}

TEST(RunDiffTest, TooFewRunsSayHowManyItTakes) {
  const std::vector<RunAmounts> base = Runs(1, 100);
  const RunDiff diff = DiffRuns(std::span(base).first(2), Runs(1.1, 101));
  EXPECT_EQ(RowOf(diff, RunTable::kRanges, "mm").compared.verdict,
            analysis::RunVerdict::kTooFewRuns);
  EXPECT_THAT(RunDiffText(diff, RunFormat::kText),
              HasSubstr("found only with 6 runs on each side"));
}

TEST(RunDiffTest, NewAndGoneRows) {
  std::vector<RunAmounts> base = Runs(1, 100);
  std::vector<RunAmounts> head = Runs(1, 100);
  for (RunAmounts& run : base) run[{RunTable::kCalls, "old"}] = 1;
  for (RunAmounts& run : head) run[{RunTable::kCalls, "young"}] = 1;
  const std::string text = RunDiffText(DiffRuns(base, head), RunFormat::kText);
  EXPECT_THAT(text, testing::ContainsRegex("young +new +0 +1 +--"));
  EXPECT_THAT(text, testing::ContainsRegex("old +gone +1 +0 +-100.0 %"));
}

// Equal programs: what occurs in one run of ten is neither new nor gone.
TEST(RunDiffTest, WhatOccursNowAndThenIsNoChange) {
  std::vector<RunAmounts> base = Runs(1, 100);
  std::vector<RunAmounts> head = Runs(1, 100);
  base[3][{RunTable::kCalls, "rare"}] = 1;
  base[3][{RunTable::kRanges, "rare"}] = 400;
  head[5][{RunTable::kCalls, "seldom"}] = 1;
  head[5][{RunTable::kFunctions, "seldom"}] = 400;
  const RunDiff diff = DiffRuns(base, head);
  const std::string text = RunDiffText(diff, RunFormat::kText);
  EXPECT_THAT(text, testing::Not(HasSubstr(" new ")));
  EXPECT_THAT(text, testing::Not(HasSubstr(" gone ")));
  EXPECT_THAT(text, testing::ContainsRegex("rare +too noisy +0 +0"));
  EXPECT_EQ(diff.left_out.at(RunTable::kFunctions), 1u);
}

TEST(RunDiffTest, OneRunOfCountsIsTooFew) {
  const std::vector<RunAmounts> base = {
      {{{RunTable::kCalls, "mm"}, 3}, {{RunTable::kCalls, "add"}, 1}}};
  std::vector<RunAmounts> head = base;
  head[0][{RunTable::kCalls, "mm"}] = 4;
  const RunDiff diff = DiffRuns(base, head);
  const std::string text = RunDiffText(diff, RunFormat::kText);
  EXPECT_THAT(text, testing::ContainsRegex("mm +too few runs +3 +4"));
  EXPECT_THAT(text, HasSubstr("\n1 did not change\n"));
  EXPECT_THAT(Exceeded(*ParseLimits("calls>0"), diff).status().message(),
              HasSubstr("it takes 2 or more on each side"));
}

// Allocations outside of all ranges vary with the machine, and are no calls.
TEST(RunDiffTest, MemoryIsNotCalled) {
  std::vector<report::TableRow> rows(2);
  rows[0].key = "[memory]";
  rows[1].key = "mm";
  RunAmounts amounts;
  AddRanges(rows, "self_cpu_time_total", amounts);
  EXPECT_FALSE(amounts.contains({RunTable::kCalls, "[memory]"}));
  EXPECT_TRUE(amounts.contains({RunTable::kCalls, "mm"}));
}

TEST(RunDiffTest, CountsThatVaryAreShown) {
  std::vector<RunAmounts> base = Runs(1, 100);
  std::vector<RunAmounts> head = Runs(1, 100);
  for (size_t i = 0; i < 10; ++i) {
    const double amount = i < 5 ? 100 : 1000 + 10 * static_cast<double>(i);
    base[i][{RunTable::kHeap, "allocations"}] = amount;
    head[9 - i][{RunTable::kHeap, "allocations"}] = i == 4 ? 1000 : amount;
  }
  const std::string text = RunDiffText(DiffRuns(base, head), RunFormat::kText);
  EXPECT_THAT(text, testing::ContainsRegex("allocations +too noisy"));
  EXPECT_THAT(text, HasSubstr("\n1 did not change\n"));  // the calls of mm
}

// A static program's heap cannot be watched.
TEST(RunDiffTest, AHeapThatASideLacksIsNotRecordedThere) {
  const std::vector<RunAmounts> with = Runs(1, 100);
  std::vector<RunAmounts> without = Runs(1, 100);
  for (RunAmounts& run : without) run.erase({RunTable::kHeap, "allocations"});
  const auto text = [](const RunDiff& diff) {
    return RunDiffText(diff, RunFormat::kText);
  };
  const std::string note = "\nnot recorded: the side's programs ";
  EXPECT_THAT(text(DiffRuns(with, without)),
              AllOf(testing::ContainsRegex(
                        "allocations +not recorded +100 +-- +-- *\n"),
                    HasSubstr(note)));
  EXPECT_THAT(
      text(DiffRuns(without, with)),
      testing::ContainsRegex("allocations +not recorded +-- +100 +-- *\n"));
  EXPECT_THAT(text(DiffRuns(with, with)), Not(HasSubstr("not recorded")));
  const auto json = [](const RunDiff& diff) {
    return RunDiffText(diff, RunFormat::kJson);
  };
  EXPECT_THAT(json(DiffRuns(with, without)),
              testing::ContainsRegex(
                  "\"not recorded\",[[:space:]]+\"base\": 100[[:space:]]+}"));
  EXPECT_THAT(json(DiffRuns(without, with)),
              testing::ContainsRegex(
                  "\"not recorded\",[[:space:]]+\"head\": 100[[:space:]]+}"));
  // Of other tables, what one side lacks did not occur there.
  for (RunAmounts& run : without) run.erase({RunTable::kCalls, "mm"});
  EXPECT_THAT(text(DiffRuns(with, without)),
              testing::ContainsRegex("mm +gone +3 +0"));
}

TEST(RunDiffTest, TablesLookAsTheFlagsSay) {
  const RunDiff diff = DiffRuns(Runs(1, 100), Runs(1.1, 101));
  const std::string text =
      RunDiffText(diff, RunFormat::kText, {.name_width = 8, .time_unit = "s"});
  EXPECT_THAT(text, testing::ContainsRegex("\nalloc\\.\\.\\. +more"));
  EXPECT_THAT(text, testing::ContainsRegex("mm +slower +0\\.001s"));
}

TEST(TableLineTest, CountsCharacters) {
  const std::string cells[] = {"größe", "µs", "x"};
  EXPECT_EQ(TableLine(cells, std::array{-6, 4, 0}), "größe     µs  x\n");
}

TEST(MarkupTextTest, HasNoCharacterThatXmlForbids) {
  EXPECT_EQ(MarkupText("a\xEF\xBF\xBE<\xEF\xBF\xBF"),
            "a\xEF\xBF\xBD&lt;\xEF\xBF\xBD");
}

TEST(FailIfTest, WhatCannotFailIsAnError) {
  std::vector<RunAmounts> base = Runs(1, 100);
  std::vector<RunAmounts> head = Runs(1, 100);
  const auto error = [&](const char* limit) {
    return std::string(
        Exceeded(*ParseLimits(limit), DiffRuns(base, head)).status().message());
  };
  EXPECT_EQ(error("allocations>0"), "");
  EXPECT_THAT(error("function_cpu>0"),
              HasSubstr("0 of 10 runs of base have function_cpu"));
  head[2].erase({RunTable::kHeap, "allocations"});
  EXPECT_EQ(error("allocations>0"),
            "allocations>0: 9 of 10 runs of head have allocations, so the "
            "limit says nothing; record them with --profile_memory");
  base.resize(2);
  head = Runs(1, 100);
  EXPECT_THAT(error("self_cpu>5%"),
              HasSubstr("2 and 10 runs are too few for any change of self_cpu "
                        "to be sure; it takes 6 or more on each side"));
}

TEST(FailIfTest, FailsOnWhatSurelyChanged) {
  const RunDiff diff = DiffRuns(Runs(1, 100), Runs(1.1, 101));
  const auto exceeded = [&](const char* text) {
    return Exceeded(ParseLimits(text).value(), diff).value();
  };
  EXPECT_THAT(exceeded("allocations>0"),
              ElementsAre("allocations>0: allocations went from 100 to 101 "
                          "(+1.00 %)"));
  EXPECT_THAT(exceeded("allocations>1,allocations>1%"), IsEmpty());
  EXPECT_THAT(exceeded("self_cpu>8%"),
              ElementsAre(HasSubstr("self_cpu of mm went from ")));
  EXPECT_THAT(exceeded("self_cpu>11%,calls>0"), IsEmpty());
}

TEST(FailIfTest, NoiseExceedsNothing) {
  const RunDiff diff = DiffRuns(Runs(1, 100), Runs(1.0001, 100));
  EXPECT_THAT(*Exceeded(*ParseLimits("self_cpu>0,allocations>0"), diff),
              IsEmpty());
}

TEST(FailIfTest, ErrorsSayWhatItTakes) {
  for (const char* const wrong :
       {"", "self_cpu", "self_cpu>", "self_cpu>x", "cpu>5%", "calls>-1",
        "calls>inf", "calls>nan", "calls>1,,calls>2"}) {
    EXPECT_THAT(ParseLimits(wrong).status().message(),
                HasSubstr("it takes a list such as self_cpu>5%"))
        << wrong;
  }
}

}  // namespace
}  // namespace kymo::tools
