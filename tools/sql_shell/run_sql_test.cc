#include "tools/sql_shell/run_sql.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "profiler/tables/test_tables.h"
#include "tools/sql_shell/line_reader.h"

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunSqlTest : public ::testing::Test {
 protected:
  // What is printed, and the error.
  std::string Printed(query::ResultFormat format, std::string_view sql) {
    absl::StatusOr<TraceQueries> queries = TraceQueries::Open(trace_);
    EXPECT_TRUE(queries.ok());
    std::string text;
    SqlRun run(*queries, format, [&](std::string_view part) {
      text += part;
      return absl::OkStatus();
    });
    const absl::Status status = run.Run(sql);
    return status.ok() ? text
                       : text + "error: " + std::string(status.message());
  }
  const model::Trace trace_ = tables::SmallTrace();
};

TEST_F(RunSqlTest, SeveralResultsFollowEachOther) {
  EXPECT_EQ(Printed(query::ResultFormat::kText, "select 1 as a; select 2 as b"),
            "  a\n---\n  1\n\n  b\n---\n  2\n");
  EXPECT_EQ(Printed(query::ResultFormat::kCsv, "select 1 as a; select 2 as b;"),
            "a\r\n1\r\nb\r\n2\r\n");
}

TEST_F(RunSqlTest, TheFirstErrorEndsIt) {
  EXPECT_THAT(Printed(query::ResultFormat::kCsv,
                      "select 1 as a; selekt; select 3 as c"),
              ::testing::StartsWith("a\r\n1\r\nerror: near \"selekt\""));
  EXPECT_THAT(Printed(query::ResultFormat::kCsv, " -- nothing"),
              HasSubstr("the query is empty"));
}

// One instruction of SQLite that would take days.
TEST_F(RunSqlTest, AFunctionThatDoesNotEndEndsTheProcess) {
  absl::StatusOr<TraceQueries> queries =
      TraceQueries::Open(trace_, {.max_time_ns = 1'000'000, .is_alone = true});
  ASSERT_TRUE(queries.ok()) << queries.status();
  SqlRun run(*queries, query::ResultFormat::kCsv,
             [](std::string_view) { return absl::OkStatus(); });
  EXPECT_EXIT(
      run.RunOne("select instr(zeroblob(60000000), zeroblob(30000000)||x'01')")
          .IgnoreError(),
      ::testing::ExitedWithCode(1), "one of its functions did not end");
}

TEST_F(RunSqlTest, ATableThatIsTooLargeIsAnError) {
  absl::StatusOr<TraceQueries> queries =
      TraceQueries::Open(trace_, {.max_memory_bytes = 1 << 20});
  ASSERT_TRUE(queries.ok()) << queries.status();
  const char* const sql =
      "with recursive c(x) as (values(1) union all select x + 1 from c "
      "where x < 100000) select x, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' from c";
  for (const query::ResultFormat format :
       {query::ResultFormat::kText, query::ResultFormat::kMarkdown}) {
    SqlRun run(*queries, format,
               [](std::string_view) { return absl::OkStatus(); });
    EXPECT_THAT(std::string(run.RunOne(sql).message()),
                HasSubstr("more than 1 MiB as a table"));
  }
  EXPECT_THAT(std::string(queries->Run(sql).status().message()),
              HasSubstr("more than 1 MiB"));
  SqlRun run(*queries, query::ResultFormat::kCsv,
             [](std::string_view) { return absl::OkStatus(); });
  EXPECT_TRUE(run.RunOne(sql).ok());
}

TEST(CompletionsTest, CaseDoesNotMatter) {
  EXPECT_THAT(Completions({"events", "ever", "frames"}, "EV"),
              ElementsAre("events", "ever"));
  EXPECT_THAT(Completions({"events"}, "x"), IsEmpty());
}

}  // namespace
}  // namespace kymo::tools
