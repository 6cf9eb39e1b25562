#include "profiler/query/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "profiler/query/test_query.h"
#include "profiler/tables/test_tables.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Rows without end.
constexpr char kEndless[] =
    "with recursive n(x) as (select 1 union all select x + 1 from n) ";

class QueryTest : public ::testing::Test {
 protected:
  std::vector<std::string> Rows(const std::string& sql) const {
    return RowsOf(trace_, sql);
  }
  absl::Status StatusOf(const std::string& sql,
                        const QueryLimits& limits = {}) const {
    absl::StatusOr<TraceQueries> queries = TraceQueries::Open(trace_, limits);
    if (!queries.ok()) return queries.status();
    return queries->Run(sql).status();
  }

  const model::Trace trace_ = tables::SmallTrace();
};

TEST_F(QueryTest, GroupsEventsByName) {
  EXPECT_THAT(
      Rows("select name, count(*), sum(dur_ns) from events group by "
           "name order by 3 desc, 1 limit 3"),
      ElementsAre("load|1|2000", "ProfilerStep#3|1|900", "aten::mm|2|500"));
}

TEST_F(QueryTest, ResultsHaveColumnsAndTypes) {
  const absl::StatusOr<QueryResult> result =
      Query(trace_, "select 1 as one, 2.5, 'x', null");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->columns, ElementsAre("one", "2.5", "'x'", "null"));
  EXPECT_THAT(result->rows,
              ElementsAre(ElementsAre(QueryValue(int64_t{1}), QueryValue(2.5),
                                      QueryValue(std::string("x")),
                                      QueryValue(std::monostate()))));
}

// Rows in the order of an index are read ahead, and some of them are skipped.
TEST_F(QueryTest, RowsInAnOrderOfTheirOwnHaveTheirOwnValues) {
  TestTrace t;
  const model::TrackIndex main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 2000; ++i) {
    t.AddRange(main, "name" + std::to_string(i * i % 7), i * 10,
               i * 10 + i % 5);
  }
  const model::Trace trace = std::move(t).Build();
  for (const std::string rest :
       {"order by name", "order by name desc", "where dur_ns > 3 order by name",
        "where id % 300 < 290 order by name", "where name = 'name2'",
        "order by name limit 3 offset 500"}) {
    std::vector<std::string> found =
        RowsOf(trace, "select name, start_ns, dur_ns from events " + rest);
    // A unary plus keeps SQLite from using the index.
    std::string sorted = rest;
    if (const size_t at = rest.find("by name"); at != rest.npos) {
      sorted = rest.substr(0, at) + "by +name" + rest.substr(at + 7);
    }
    std::vector<std::string> wanted =
        RowsOf(trace, "select +name, +start_ns, +dur_ns from events " + sorted);
    EXPECT_FALSE(found.empty());
    // Rows of one name have no order.
    std::ranges::sort(found);
    std::ranges::sort(wanted);
    EXPECT_EQ(found, wanted) << rest;
  }
}

TEST_F(QueryTest, EveryTableAndItsExampleCanBeRead) {
  for (const tables::Table& table : tables::AllTables()) {
    const std::string name(table.name);
    EXPECT_THAT(Rows("select count(*) from " + name + " where rowid >= 0"),
                ElementsAre(std::to_string(
                    tables::TraceTables(trace_).RowCount(table))));
    const absl::StatusOr<QueryResult> all =
        Query(trace_, "select * from " + name);
    ASSERT_TRUE(all.ok()) << name << ": " << all.status();
    EXPECT_EQ(all->columns.size(), table.columns.size()) << name;
    const absl::Status example = StatusOf(std::string(table.example));
    EXPECT_TRUE(example.ok()) << table.example << ": " << example;
  }
}

TEST_F(QueryTest, NamesMayBeAnything) {
  TestTrace t;
  const auto thread = t.AddThread(1, 1, "main");
  const std::string hostile[] = {std::string("a\0b", 3), "\xff\xfe", "';--",
                                 "\x1b[2J", ""};
  for (const std::string& name : hostile) t.AddRange(thread, name, 0, 1);
  const model::Trace trace = std::move(t).Build();
  EXPECT_THAT(RowsOf(trace, "select name from events order by id"),
              ::testing::ElementsAreArray(hostile));
  EXPECT_THAT(RowsOf(trace, "select count(distinct name) from events"),
              ElementsAre("5"));
  EXPECT_THAT(RowsOf(trace, "select id from events where name = ''';--'"),
              ElementsAre("2"));
  EXPECT_THAT(RowsOf(trace, "select id from events where name = ''"),
              ElementsAre("4"));
}

TEST_F(QueryTest, DivisionByZeroIsNull) {
  EXPECT_THAT(Rows("select 1 / 0, 1.0 / 0, dur_ns / 0 from events limit 1"),
              ElementsAre("-|-|-"));
}

TEST_F(QueryTest, ErrorsShowThePlace) {
  const absl::Status status = StatusOf("select nam from events");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "no such column: nam\n  select nam from events\n         ^");
  EXPECT_THAT(Rows("select * from nowhere")[0],
              HasSubstr("no such table: nowhere\n  select * from nowhere\n"));
  EXPECT_THAT(Rows("selekt 1")[0],
              HasSubstr("near \"selekt\": syntax error\n  selekt 1\n  ^"));
  EXPECT_THAT(Rows("select count( from events")[0], HasSubstr("^"));
}

TEST_F(QueryTest, OneStatementAtATime) {
  EXPECT_THAT(Rows("select 1;  -- done\n ; "), ElementsAre("1"));
  EXPECT_THAT(Rows("select 1; select 2")[0], HasSubstr("more than one"));
  EXPECT_THAT(Rows("select 1; selekt")[0], HasSubstr("more than one"));
  EXPECT_THAT(Rows("")[0], HasSubstr("the query is empty"));
  EXPECT_THAT(Rows(" -- nothing")[0], HasSubstr("the query is empty"));
  EXPECT_THAT(Rows("select ?")[0], HasSubstr("parameter (?)"));
  EXPECT_THAT(Rows("select :name")[0], HasSubstr("parameter (:name)"));
  EXPECT_THAT(Rows(std::string("select 1\0; x", 12))[0],
              HasSubstr("character U+0000"));
}

TEST_F(QueryTest, QueriesOnlyRead) {
  for (const std::string sql : {"insert into events(name) values ('x')",
                                "update events set name = 'x'",
                                "delete from events",
                                "create table t(x)",
                                "create temp table t(x)",
                                "create view v as select 1",
                                "drop view slice",
                                "create virtual table t using dbstat",
                                "attach ':memory:' as other",
                                "detach main",
                                "begin",
                                "savepoint a",
                                "vacuum",
                                "vacuum into '/tmp/kymo_must_not_exist'",
                                "reindex",
                                "analyze",
                                "pragma temp_store = file",
                                "pragma writable_schema = on",
                                "pragma hard_heap_limit = 0",
                                "select * from pragma_user_version",
                                "select load_extension('x')",
                                "alter table events rename to e"}) {
    const absl::Status status = StatusOf(sql);
    EXPECT_FALSE(status.ok()) << sql;
    EXPECT_TRUE(status.code() == absl::StatusCode::kPermissionDenied ||
                status.code() == absl::StatusCode::kInvalidArgument)
        << sql << ": " << status;
  }
  EXPECT_EQ(StatusOf("attach ':memory:' as other").message(),
            "a query can only read, with SELECT; not permitted: ATTACH");
  EXPECT_THAT(StatusOf("create view v as select 1").message(),
              HasSubstr("try WITH"));
}

TEST_F(QueryTest, TablesCanBeListed) {
  EXPECT_THAT(
      Rows("select name from pragma_table_info('steps')"),
      ElementsAre("id", "pid", "step", "event_id", "start_ns", "dur_ns"));
}

TEST_F(QueryTest, AnEndlessQueryMeetsItsTime) {
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status =
      StatusOf(std::string(kEndless) + "select count(*) from n",
               {.max_time_ns = 50'000'000});
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_THAT(status.message(), HasSubstr("0.05 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_F(QueryTest, AGreedyQueryMeetsItsMemory) {
  const QueryLimits limits = {.max_memory_bytes = 1 << 20};
  for (const std::string rest :
       {"select x from n order by -x", "select count(distinct x) from n",
        "select percentile(x, 50) from n", "select group_concat(x) from n",
        "select length(zeroblob(10000000000))",
        "select json_group_array(x) from n"}) {
    const absl::Status status = StatusOf(kEndless + rest, limits);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted)
        << rest << ": " << status;
  }
}

TEST_F(QueryTest, AloneItsMemoryIsALimitOfTheProcess) {
  const absl::Status status =
      StatusOf(std::string(kEndless) + "select count(distinct x) from n",
               {.max_memory_bytes = 1 << 20, .is_alone = true});
  sqlite3_hard_heap_limit64(0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}

TEST_F(QueryTest, AfterALimitTheNextQueryRuns) {
  absl::StatusOr<TraceQueries> queries =
      TraceQueries::Open(trace_, {.max_time_ns = 10'000'000});
  ASSERT_TRUE(queries.ok());
  EXPECT_FALSE(
      queries->Run(std::string(kEndless) + "select count(*) from n").ok());
  EXPECT_THAT(RowsOf(*queries, "select 1"), ElementsAre("1"));
  EXPECT_FALSE(queries->Run("delete from events").ok());
  EXPECT_THAT(RowsOf(*queries, "select nam from events")[0],
              HasSubstr("no such column"));
}

TEST_F(QueryTest, AnotherThreadCancels) {
  absl::StatusOr<TraceQueries> queries = TraceQueries::Open(trace_);
  ASSERT_TRUE(queries.ok());
  std::atomic<bool> is_done{false};
  std::thread canceller([&] {
    while (!is_done) {
      queries->Cancel();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const absl::Status status =
      queries->Run(std::string(kEndless) + "select count(*) from n").status();
  is_done = true;
  canceller.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  EXPECT_THAT(RowsOf(*queries, "select 1"), ElementsAre("1"));
}

TEST_F(QueryTest, TheReaderOfRowsMayStop) {
  absl::StatusOr<TraceQueries> queries = TraceQueries::Open(trace_);
  ASSERT_TRUE(queries.ok());
  int rows = 0;
  const absl::Status status = queries->Run(
      std::string(kEndless) + "select x from n",
      [](std::vector<std::string>) { return absl::OkStatus(); },
      [&](std::span<const QueryValue>) {
        return ++rows == 3 ? absl::OutOfRangeError("enough") : absl::OkStatus();
      });
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(rows, 3);
}

TEST_F(QueryTest, ViewsForUsersOfPerfetto) {
  EXPECT_THAT(Rows("select slice.name, dur, thread.name, process.name "
                   "from slice join thread_track on slice.track_id = "
                   "thread_track.id join thread using (utid) join process "
                   "using (upid) where depth = 0 and dur != 0"),
              ElementsAre("ProfilerStep#3|900|main|app", "load|-1|worker|app"));
  EXPECT_THAT(Rows("select ts, value, counter_track.name from counter join "
                   "counter_track on counter.track_id = counter_track.id"),
              ElementsAre("1500|0.25|loss", "1700|0.125|loss"));
  EXPECT_THAT(Rows("select is_main_thread from thread"), ElementsAre("1", "0"));
}

}  // namespace
}  // namespace kymo
