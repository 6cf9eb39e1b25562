#include "profiler/query/table_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/query/test_query.h"
#include "profiler/tables/table.h"
#include "profiler/tables/test_tables.h"
#include "tests/support/test_trace.h"

namespace kymo::query {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Columns whose letters in a plan must differ from the plan's '|'.
TEST(TablePlanTest, TablesHaveFewerColumnsThanLetters) {
  for (const tables::Table& table : tables::AllTables()) {
    EXPECT_LT(table.columns.size(), size_t{'|' - '!'}) << table.name;
  }
}

// 400 events on 4 tracks, with few names and durations.
model::Trace RandomTrace(uint32_t seed) {
  std::mt19937 random(seed);
  TestTrace t;
  for (int track = 0; track < 4; ++track) {
    const auto thread = t.AddThread(1, 10 + track, "t");
    TimeNs time = 1000;
    for (int i = 0; i < 50; ++i) {
      const TimeNs length = 10 * (1 + static_cast<TimeNs>(random() % 4));
      const std::string name = absl::StrCat("op", random() % 6);
      t.AddRange(thread, name, time, time + length);
      if (random() % 3 == 0) t.Describe(1 + random() % 9);
      t.AddRange(thread, "inner", time + 1, time + 5);
      time += length + static_cast<TimeNs>(random() % 20);
    }
  }
  return std::move(t).Build();
}

// A condition on one of the columns that plans use. With `plus`, SQLite must
// not use an index for it.
std::string Condition(std::mt19937& random, const std::string& plus) {
  static const char* const kColumns[] = {
      "id",   "track_id", "parent_id",     "start_ns",
      "name", "dur_ns",   "correlation_id"};
  static const char* const kOperators[] = {"=", "<", "<=", ">", ">="};
  static const char* const kValues[] = {"0",    "3",     "17",      "2.5",
                                        "1010", "1500",  "'op3'",   "null",
                                        "-1",   "1e300", "'inner'", "40"};
  return absl::StrCat(plus, kColumns[random() % 7], " ",
                      kOperators[random() % 5], " ", kValues[random() % 12]);
}

// A query finds the same rows with indexes and without them.
TEST(TablePlanTest, IndexesChangeNothing) {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    const model::Trace trace = RandomTrace(seed);
    absl::StatusOr<TraceQueries> queries = TraceQueries::Open(trace);
    ASSERT_TRUE(queries.ok());
    for (uint32_t i = 0; i < 300; ++i) {
      std::string with = "select id from events where ";
      std::string without = with;
      std::mt19937 a(1000 * seed + i);
      std::mt19937 b = a;
      const int conditions = 1 + static_cast<int>(i % 3);
      for (int c = 0; c < conditions; ++c) {
        with += absl::StrCat(c == 0 ? "" : " and ", Condition(a, ""));
        without += absl::StrCat(c == 0 ? "" : " and ", Condition(b, "+"));
      }
      std::vector<std::string> expected = RowsOf(*queries, without);
      std::vector<std::string> found = RowsOf(*queries, with);
      std::sort(expected.begin(), expected.end());
      std::sort(found.begin(), found.end());
      EXPECT_EQ(found, expected) << with;
    }
  }
}

TEST(TablePlanTest, OrderIsThatOfSqlite) {
  const model::Trace trace = RandomTrace(7);
  absl::StatusOr<TraceQueries> queries = TraceQueries::Open(trace);
  ASSERT_TRUE(queries.ok());
  for (const std::string column :
       {"id", "name", "start_ns", "dur_ns", "parent_id", "correlation_id"}) {
    for (const std::string direction : {"asc", "desc"}) {
      for (const std::string where :
           {"true", "track_id = 2", "name = 'op1'", "id between 7 and 90",
            "name = 'op2' and track_id = 1"}) {
        const std::string query = absl::StrCat(
            "select ", column, " from events where ", where, " order by ");
        EXPECT_EQ(RowsOf(*queries, query + column + " " + direction),
                  RowsOf(*queries, query + "+" + column + " " + direction))
            << query << column << " " << direction;
      }
    }
  }
}

TEST(TablePlanTest, GroupsAreThoseOfSqlite) {
  const model::Trace trace = RandomTrace(9);
  for (const std::string column : {"name", "parent_id", "dur_ns", "category"}) {
    EXPECT_EQ(RowsOf(trace, "select " + column +
                                ", count(*), sum(dur_ns) from "
                                "events group by " +
                                column),
              RowsOf(trace, "select " + column +
                                ", count(*), sum(dur_ns) from "
                                "events group by +" +
                                column));
  }
}

TEST(TablePlanTest, OtherCollationsAreSqlites) {
  TestTrace t;
  const auto thread = t.AddThread(1, 1, "main");
  for (const char* const name : {"b", "A", "a", "B"}) {
    t.AddRange(thread, name, 0, 0);
  }
  const model::Trace trace = std::move(t).Build();
  EXPECT_THAT(RowsOf(trace, "select name from events where name = 'A'"),
              ElementsAre("A"));
  EXPECT_THAT(RowsOf(trace,
                     "select name from events where name = 'A' collate "
                     "nocase order by id"),
              ElementsAre("A", "a"));
  EXPECT_THAT(RowsOf(trace, "select name from events order by name"),
              ElementsAre("A", "B", "a", "b"));
  EXPECT_THAT(RowsOf(trace,
                     "select name from events order by name collate "
                     "nocase, id"),
              ElementsAre("A", "a", "b", "B"));
}

TEST(TablePlanTest, ColumnsAreComparedAsSqliteDoes) {
  const model::Trace trace = tables::SmallTrace();
  // An affinity for numbers makes 1 of '1'.
  EXPECT_THAT(RowsOf(trace, "select id from events where parent_id = '1'"),
              ElementsAre("2"));
  EXPECT_THAT(RowsOf(trace, "select id from events where parent_id = 1.0"),
              ElementsAre("2"));
  EXPECT_THAT(RowsOf(trace, "select id from events where id in (1, 3, 99)"),
              ElementsAre("1", "3"));
  EXPECT_THAT(RowsOf(trace, "select rowid from events where rowid > 5"),
              ElementsAre("6", "7"));
  EXPECT_THAT(RowsOf(trace, "select key from metadata where rowid = 1"),
              ElementsAre("hostname"));
  EXPECT_THAT(RowsOf(trace, "select id from events where is_open"),
              ElementsAre("5"));
  EXPECT_THAT(RowsOf(trace, "select id from events where is_open = 1"),
              ElementsAre("5"));
  EXPECT_THAT(RowsOf(trace,
                     "select count(*) from events where parent_id is "
                     "null"),
              ElementsAre("5"));
  EXPECT_THAT(RowsOf(trace,
                     "select count(*) from events where "
                     "overload_name is 'out'"),
              ElementsAre("1"));
}

std::string PlanOf(const model::Trace& trace, const std::string& sql) {
  std::string plan;
  for (const std::string& row : RowsOf(trace, "explain query plan " + sql)) {
    plan += row + "\n";
  }
  return plan;
}

TEST(TablePlanTest, SortingIsSaved) {
  const model::Trace trace = RandomTrace(1);
  for (const std::string query :
       {"select name, count(*) from events group by name",
        "select id from events order by start_ns limit 3",
        "select id from events where track_id = 1 order by id"}) {
    EXPECT_THAT(PlanOf(trace, query), Not(HasSubstr("TEMP B-TREE"))) << query;
  }
}

// RowSet::Order passes over all rows: it must not be in the inner loop of a
// join, nor for a few rows.
TEST(TablePlanTest, FewRowsAreSortedBySqlite) {
  const model::Trace trace = RandomTrace(1);
  for (const std::string query :
       {"select p.name from events e left join events p on p.id = e.parent_id "
        "order by p.dur_ns limit 2",
        "select p.dur_ns from events e join events p on p.id = e.parent_id "
        "group by p.dur_ns",
        "select name from events where id between 3 and 9 order by dur_ns",
        "select name from events where dur_ns > 5 order by name"}) {
    EXPECT_THAT(PlanOf(trace, query), HasSubstr("TEMP B-TREE")) << query;
    EXPECT_THAT(PlanOf(trace, query), Not(HasSubstr("|o"))) << query;
  }
}

// The inner loop of a join finds its rows by an index.
TEST(TablePlanTest, JoinsUseIndexes) {
  const model::Trace trace = tables::SmallTrace();
  EXPECT_THAT(PlanOf(trace,
                     "select * from samples s join stacks k on k.id = "
                     "s.stack_id join frames f on f.id = k.frame_id"),
              HasSubstr("VIRTUAL TABLE INDEX 0:="));
  EXPECT_THAT(PlanOf(trace,
                     "select * from events a join events b on "
                     "b.parent_id = a.id where a.name = 'op1'"),
              HasSubstr("SCAN b VIRTUAL TABLE INDEX 0:=#"));
}

TEST(ColumnIndexTest, RunsAreFound) {
  const model::Trace trace = RandomTrace(3);
  const tables::TraceTables tables(trace);
  const tables::Table& events = *tables::FindTable("events");
  const ColumnIndex start(tables, events, *events.FindColumn("start_ns"));
  EXPECT_EQ(start.run_count(), 4);
  EXPECT_EQ(
      start.RangesOfInts(1000, 1000),
      (std::vector<RowRange>{{0, 1}, {100, 101}, {200, 201}, {300, 301}}));
  EXPECT_THAT(start.RangesOfInts(2, 1), ElementsAre());
  const ColumnIndex id(tables, events, *events.FindColumn("id"));
  EXPECT_EQ(id.RangesOfInts(5, 1000), (std::vector<RowRange>{{5, 400}}));
  const ColumnIndex parent(tables, events, *events.FindColumn("parent_id"));
  EXPECT_FALSE(parent.has_runs());  // it has NULLs
}

TEST(ColumnIndexTest, ValuesThatAreFarApart) {
  TestTrace t;
  const auto thread = t.AddThread(1, 1, "main");
  const uint64_t ids[] = {5'000'000'000'000, 1, 7, 5'000'000'000'000};
  for (const uint64_t id : ids) {
    t.AddRange(thread, "op", 0, 0);
    t.Describe(id);
  }
  t.AddRange(thread, "none", 0, 0);
  const model::Trace trace = std::move(t).Build();
  const tables::TraceTables tables(trace);
  const tables::Table& events = *tables::FindTable("events");
  ColumnIndex index(tables, events, *events.FindColumn("correlation_id"));
  EXPECT_THAT(index.RowsOfInt(5'000'000'000'000), ElementsAre(0, 3));
  EXPECT_THAT(index.RowsOfInt(7), ElementsAre(2));
  EXPECT_THAT(index.RowsOfInt(6), ElementsAre());
  EXPECT_THAT(index.RowsInOrder(), ElementsAre(4, 1, 2, 0, 3));
}

TEST(RowSetTest, RangesAndLists) {
  const auto rows_of = [](RowSet& set, bool backwards) {
    std::vector<Row> rows;
    for (set.Begin(backwards); !set.AtEnd(); set.Next()) {
      rows.push_back(set.row());
    }
    return rows;
  };
  RowSet set;
  EXPECT_THAT(rows_of(set, false), ElementsAre());
  set.SetRanges({{0, 3}, {5, 5}, {7, 9}});
  EXPECT_THAT(rows_of(set, false), ElementsAre(0, 1, 2, 7, 8));
  EXPECT_THAT(rows_of(set, true), ElementsAre(8, 7, 2, 1, 0));
  set.Restrict({{1, 2}, {8, 20}});
  EXPECT_THAT(rows_of(set, false), ElementsAre(1, 8));
  const std::vector<Row> order = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  set.Order(order);
  EXPECT_THAT(rows_of(set, false), ElementsAre(8, 1));
  EXPECT_THAT(rows_of(set, true), ElementsAre(1, 8));
  set.SetList(order);
  EXPECT_EQ(set.size(), 10);
  const std::vector<Row> list = {2, 4, 6};
  set.SetList(list);
  set.Restrict({{0, 3}, {6, 7}});
  EXPECT_THAT(rows_of(set, false), ElementsAre(2, 6));
  set.Restrict({});
  EXPECT_THAT(rows_of(set, false), ElementsAre());
}

}  // namespace
}  // namespace kymo::query
