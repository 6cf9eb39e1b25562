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

TEST(CompletionsTest, CaseDoesNotMatter) {
  EXPECT_THAT(Completions({"events", "ever", "frames"}, "EV"),
              ElementsAre("events", "ever"));
  EXPECT_THAT(Completions({"events"}, "x"), IsEmpty());
}

}  // namespace
}  // namespace kymo::tools
