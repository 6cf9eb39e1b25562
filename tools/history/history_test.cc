#include "tools/history/history.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kymo::tools {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class HistoryTest : public ::testing::Test {
 protected:
  HistoryTest() { unlink(path_.c_str()); }

  // Thirty runs of ten ranges. Since run 20, range 3 takes 10 % longer; since
  // run 25, there is one allocation more. Run 7 is slower as a whole.
  void Append() {
    for (int run = 0; run < 30; ++run) {
      RunAmounts amounts = {
          {{RunTable::kHeap, "allocations"}, run < 25 ? 100.0 : 101.0}};
      for (int i = 0; i < 10; ++i) {
        const double noise = 1 + 0.002 * ((run * 7 + i * 3) % 10);
        const double slower = i == 3 && run >= 20 ? 1.1 : 1;
        amounts[{RunTable::kRanges, "op<" + std::to_string(i)}] =
            100 * (i + 1) * noise * slower * (run == 7 ? 3 : 1);
      }
      ASSERT_TRUE(
          AppendRun(path_, {.name = "r" + std::to_string(run)}, amounts).ok());
    }
  }

  const std::string path_ = std::string(getenv("TEST_TMPDIR")) + "/history.db";
};

TEST_F(HistoryTest, KeepsRunsAndRows) {
  const RunKey old = {RunTable::kCalls, "old\n", "shape"};
  const RunKey young = {RunTable::kFunctions, "young"};
  ASSERT_TRUE(AppendRun(path_, {"a", 5}, {{old, 3}}).ok());
  ASSERT_TRUE(AppendRun(path_, {"b", 6}, {{old, 4}, {young, 0.5}}).ok());
  const absl::StatusOr<RunHistory> history = ReadRuns(path_);
  ASSERT_TRUE(history.ok()) << history.status();
  ASSERT_EQ(history->runs.size(), 2u);
  EXPECT_EQ(history->runs[1].name, "b");
  EXPECT_EQ(history->runs[1].time_ns, 6);
  EXPECT_EQ(history->rows.at(old), (std::vector<double>{3, 4}));
  EXPECT_EQ(history->rows.at(young), (std::vector<double>{0, 0.5}));
}

TEST_F(HistoryTest, OtherFilesAreLeftAlone) {
  EXPECT_THAT(ReadRuns(path_).status().message(), HasSubstr("is not there"));
  ASSERT_EQ(symlink(path_.c_str(), path_.c_str()), 0);
  EXPECT_THAT(ReadRuns(path_).status().message(), HasSubstr("cannot read"));
  unlink(path_.c_str());
  std::ofstream(path_) << "a text that is long enough to be a file of SQLite's";
  EXPECT_TRUE(absl::IsInvalidArgument(ReadRuns(path_).status()))
      << ReadRuns(path_).status();
  EXPECT_FALSE(AppendRun(path_, {"a", 1}, {}).ok());
  std::ifstream file(path_);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(text.starts_with("a text"));
}

// A small file can have many runs and many rows.
TEST_F(HistoryTest, AFileThatTakesTooMuchMemoryIsNotRead) {
  ASSERT_TRUE(
      AppendRun(path_, {.name = "r"}, {{{RunTable::kCalls, "op"}, 1}}).ok());
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
  const auto fill = [&](const char* insert) {
    const std::string sql =
        std::string(
            "WITH n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n "
            "WHERE i < 20000) ") +
        insert;
    return sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  };
  EXPECT_EQ(fill("INSERT INTO runs SELECT i, 'r', 0 FROM n"), SQLITE_OK);
  EXPECT_TRUE(ReadRuns(path_).ok());
  EXPECT_EQ(fill("INSERT INTO rows SELECT i, 'calls', i, '' FROM n"),
            SQLITE_OK);
  sqlite3_close(database);
  EXPECT_TRUE(absl::IsResourceExhausted(ReadRuns(path_).status()))
      << ReadRuns(path_).status();
}

// A run without a memory profile does not say that the heap is gone.
TEST_F(HistoryTest, WhatNobodyMeasuredIsMissing) {
  for (int run = 0; run < 12; ++run) {
    RunAmounts amounts = {{{RunTable::kCalls, "op"}, 3}};
    if (run < 4 || run > 6) {
      amounts[{RunTable::kHeap, "allocations"}] = run < 9 ? 100 : 101;
    }
    ASSERT_TRUE(
        AppendRun(path_, {.name = "r" + std::to_string(run)}, amounts).ok());
  }
  const RunHistory history = ReadRuns(path_).value();
  const HistoryChanges changes = FindChanges(history);
  ASSERT_EQ(changes.changes.size(), 1u);
  EXPECT_EQ(changes.changes[0].run, 9u);
  EXPECT_EQ(changes.changes[0].point.first, 6u);
  EXPECT_THAT(HistoryText(history, changes, RunFormat::kText),
              ContainsRegex("r9 +heap +allocations +100 +101"));
  EXPECT_THAT(HistoryPage(history, changes),
              ContainsRegex("<td>r9</td>.*<td>sure</td>"));
}

TEST_F(HistoryTest, OneRunAloneIsNoStepOfACount) {
  for (int run = 0; run < 12; ++run) {
    const double amount = run == 11 ? 7 : 3;
    ASSERT_TRUE(
        AppendRun(path_, {.name = "r"}, {{{RunTable::kCalls, "op"}, amount}})
            .ok());
  }
  EXPECT_TRUE(FindChanges(ReadRuns(path_).value()).changes.empty());
}

TEST_F(HistoryTest, FindsTheRunsWhereRowsChanged) {
  Append();
  const RunHistory history = ReadRuns(path_).value();
  const HistoryChanges changes = FindChanges(history);
  ASSERT_EQ(changes.changes.size(), 3u);
  EXPECT_EQ(changes.changes[0].key.name, "allocations");
  EXPECT_EQ(changes.changes[0].point.first, 25u);
  EXPECT_EQ(changes.changes[0].confidence, 1);
  EXPECT_EQ(changes.changes[1].key.name, "op<3");
  EXPECT_EQ(changes.changes[1].point.first, 20u);
  EXPECT_GT(changes.changes[1].confidence, 0.99);
  // 0.7 % of the sum, in which the rows' noise cancels out.
  EXPECT_EQ(changes.changes[2].key.name, kWholeName);
  const std::string text = HistoryText(history, changes, RunFormat::kText);
  EXPECT_THAT(text, HasSubstr("30 runs, 12 rows, 3 changes\n"));
  EXPECT_THAT(text, ContainsRegex("r25 +heap +allocations +100 +101 +\\+1.0 %"
                                  " +sure"));
  EXPECT_THAT(HistoryText(history, changes, RunFormat::kMarkdown),
              HasSubstr("| r20 | ranges | op\\<3 |"));
  EXPECT_THAT(HistoryText(history, changes, RunFormat::kJson),
              HasSubstr("\"run\": \"r25\""));
  // The page draws each row that changed.
  const std::string page = HistoryPage(history, changes);
  EXPECT_THAT(page, HasSubstr("<h2>ranges: op&lt;3</h2>"));
  EXPECT_THAT(page, HasSubstr("<td>r20</td>"));
  EXPECT_THAT(page, Not(HasSubstr("op<3")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace kymo::tools
