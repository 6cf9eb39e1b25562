#include "profiler/report/wait_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/test_trace.h"

namespace kymo::report {
namespace {

using model::WaitKind;

// A lock with two waiters for 3 of 4 us that were not idle, and an idle worker.
model::Trace Convoy() {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.AddRange(main, "work", 0, 4'000);
  const auto worker = t.AddThread(7, 8, "worker");
  t.SetThreadTimes(
      {{.track = main, .wall_ns = 5'000}, {.track = worker, .wall_ns = 9'000}});
  t.AddWait({.track = main,
             .kind = WaitKind::kLock,
             .begin_ns = 1'000,
             .duration_ns = 2'000,
             .runnable_ns = 500,
             .object = 0x1f,
             .object_name = t.Intern("a\nb.cc:5"),
             .waker = worker,
             .waker_stack = t.Stack({"worker", "Hold"})},
            {"main", "Put", "pthread_mutex_lock"});
  t.AddWait({.track = main,
             .kind = WaitKind::kSleep,
             .begin_ns = 3'000,
             .duration_ns = 1'000},
            {"main", "sleep"});
  t.AddWait({.track = worker,
             .kind = WaitKind::kLock,
             .begin_ns = 1'000,
             .duration_ns = 1'000,
             .object = 0x1f,
             .object_name = t.Intern("a\nb.cc:5")},
            {"Get"});
  t.AddWait({.track = worker,
             .kind = WaitKind::kPoll,
             .begin_ns = 2'000,
             .duration_ns = 7'000});
  return std::move(t).Build();
}

std::string Text(const Value& value) { return std::get<std::string>(value); }
int64_t Number(const Value& value) { return std::get<int64_t>(value); }

TEST(WaitTablesTest, IdleWaitsHaveNoShareOfTheOthers) {
  const ValueTable table = WaitTable(Convoy());
  ASSERT_EQ(table.rows.size(), 4u);
  const std::vector<Value>& idle = table.rows[0];
  EXPECT_EQ(Text(idle[0]), "[no stack]");
  EXPECT_EQ(Text(idle[1]), "poll");
  EXPECT_EQ(Text(idle[2]), "idle");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(idle[3]));
  EXPECT_EQ(Number(idle[4]), 7'000);
  const std::vector<Value>& put = table.rows[1];
  EXPECT_EQ(Text(put[1]), "lock");
  EXPECT_EQ(Text(put[2]), "");
  EXPECT_EQ(std::get<double>(put[3]), 0.5);
  EXPECT_EQ(Number(put[4]), 2'000);
  EXPECT_EQ(Number(put[5]), 1);
  EXPECT_EQ(Number(put[6]), 2'000);
  EXPECT_EQ(Text(put[7]), "0x1f a\nb.cc:5");
  EXPECT_EQ(Text(put[8]), "Hold");
  EXPECT_EQ(Text(put[9]), "app");
  EXPECT_EQ(Text(put[10]), "pthread_mutex_lock < Put < main");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(idle[7]));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(idle[8]));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(idle[9]));
}

TEST(WaitTablesTest, ALockHasARowForEachStackThatWaitedAndThatHeldIt) {
  const ValueTable table = LockTable(Convoy());
  ASSERT_EQ(table.rows.size(), 4u);
  std::vector<std::string> texts;
  for (const std::vector<Value>& row : table.rows) {
    EXPECT_EQ(Number(row[0]), 7);
    EXPECT_EQ(Text(row[1]), "0x1f a\nb.cc:5");
    EXPECT_TRUE(std::holds_alternative<std::monostate>(row[2])) << "named";
    EXPECT_EQ(Number(row[4]), 3'000);
    texts.push_back(Text(row[3]) + " " + std::to_string(Number(row[5])) + " " +
                    Text(row[8]));
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"waits 2000 Put", "waits 1000 Get",
                                             "holds 2000 Hold",
                                             "holds 1000 [unknown]"}));
  EXPECT_EQ(Text(table.rows[2][9]), "Hold < worker");
}

TEST(WaitTablesTest, ALockWithoutANameHasItsOrigin) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.AddWait({.track = main,
             .kind = WaitKind::kLock,
             .begin_ns = 1'000,
             .duration_ns = 2'000,
             .object = 0x1f},
            {"main", "Put", "pthread_mutex_lock"});
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(Text(LockTable(trace).rows.at(0)[2]), "first seen waiting at Put");
}

TEST(WaitTablesTest, ARangeIsOnACpuRunnableOrBlocked) {
  const ValueTable table = RangeWaitTable(Convoy());
  ASSERT_EQ(table.rows.size(), 1u);
  std::vector<std::string> values;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const auto* const number = std::get_if<int64_t>(&table.rows[0][i]);
    if (number == nullptr || *number == 0) continue;
    values.push_back(table.columns[i].title + " " + std::to_string(*number));
  }
  EXPECT_EQ(values,
            (std::vector<std::string>{
                "# of Calls 1", "Wall 4000", "On CPU 1000", "Wait time 3000",
                "Runnable 500", "Lock 1500", "Sleep 1000"}));
}

TEST(WaitTablesTest, SectionsHaveTitlesAndNoControlCharacters) {
  const std::string text = WaitsText(Convoy(), -1);
  const size_t locks = text.find("\n\nLocks\n---");
  EXPECT_TRUE(text.starts_with("Where it waited\n---")) << text;
  EXPECT_NE(locks, std::string::npos) << text;
  EXPECT_NE(text.find("\n\nRanges that waited\n---", locks), std::string::npos);
  EXPECT_EQ(text.find("a\nb.cc"), std::string::npos);
  EXPECT_EQ(WaitsText(TestTrace().Build(), -1), "");
}

}  // namespace
}  // namespace kymo::report
