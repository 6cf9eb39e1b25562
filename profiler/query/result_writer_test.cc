#include "profiler/query/result_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kymo::query {
namespace {

using Rows = std::vector<std::vector<QueryValue>>;

std::string Written(ResultFormat format, std::vector<std::string> columns,
                    const Rows& rows) {
  std::string text;
  ResultWriter writer(format, [&](std::string_view part) {
    text += part;
    return absl::OkStatus();
  });
  EXPECT_TRUE(writer.Begin(std::move(columns)).ok());
  for (const auto& row : rows) EXPECT_TRUE(writer.Add(row).ok());
  EXPECT_TRUE(writer.End().ok());
  return text;
}

const Rows& SomeRows() {
  static const Rows& rows =
      *new Rows{{std::string("aten::mm"), int64_t{12}, 0.5},
                {std::monostate(), int64_t{-3}, std::monostate()},
                {std::string("a|\"b\"\n\x1b"), int64_t{4}, 1e30}};
  return rows;
}
const std::vector<std::string> kColumns = {"name", "n", "x"};

TEST(ResultWriterTest, Text) {
  EXPECT_EQ(Written(ResultFormat::kText, kColumns, SomeRows()),
            "name           n      x\n"
            "-----------  ---  -----\n"
            "aten::mm      12    0.5\n"
            "NULL          -3   NULL\n"
            "a|\"b\"\\n\\x1b    4  1e+30\n");
}

TEST(ResultWriterTest, AVeryLongTextMakesNoOtherLineLonger) {
  const std::string longest(65'536, 'x');
  const std::string text =
      Written(ResultFormat::kText, {"name", "n"},
              {{longest, int64_t{1}}, {std::string("short"), int64_t{2}}});
  EXPECT_EQ(text.size(), 3 * (200 + 2 + 3 + 1) + longest.size() + 2 + 3 + 1);
  EXPECT_NE(text.find(longest + "    1\n"), text.npos);
  EXPECT_NE(text.find("short" + std::string(195, ' ') + "    2\n"), text.npos);
}

TEST(ResultWriterTest, Csv) {
  EXPECT_EQ(Written(ResultFormat::kCsv, kColumns, SomeRows()),
            "name,n,x\r\naten::mm,12,0.5\r\n,-3,\r\n"
            "\"a|\"\"b\"\"\\n\\x1b\",4,1e+30\r\n");
}

TEST(ResultWriterTest, Json) {
  EXPECT_EQ(
      Written(ResultFormat::kJson, kColumns, SomeRows()),
      "[\n{\"name\": \"aten::mm\", \"n\": 12, \"x\": 0.5},\n"
      "{\"name\": null, \"n\": -3, \"x\": null},\n"
      "{\"name\": \"a|\\\"b\\\"\\n\\u001b\", \"n\": 4, \"x\": 1e+30}\n]\n");
}

TEST(ResultWriterTest, InfinityHasQuotesInJsonAlone) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Rows rows = {{kInfinity, -kInfinity}};
  EXPECT_EQ(Written(ResultFormat::kCsv, {"a", "b"}, rows),
            "a,b\r\nInfinity,-Infinity\r\n");
  EXPECT_EQ(Written(ResultFormat::kText, {"a", "b"}, rows),
            "       a          b\n"
            "--------  ---------\n"
            "Infinity  -Infinity\n");
  EXPECT_EQ(Written(ResultFormat::kJson, {"a", "b"}, rows),
            "[\n{\"a\": \"Infinity\", \"b\": \"-Infinity\"}\n]\n");
}

TEST(ResultWriterTest, JsonNumbersNamesThatComeAgain) {
  EXPECT_EQ(Written(ResultFormat::kJson, {"x", "x", "x"},
                    {{int64_t{1}, int64_t{2}, int64_t{3}}}),
            "[\n{\"x\": 1, \"x:1\": 2, \"x:2\": 3}\n]\n");
}

TEST(ResultWriterTest, Markdown) {
  EXPECT_EQ(Written(ResultFormat::kMarkdown, kColumns, SomeRows()),
            "| name           |   n |     x |\n"
            "| -------------- | --: | ----: |\n"
            "| aten::mm       |  12 |   0.5 |\n"
            "| NULL           |  -3 |  NULL |\n"
            "| a\\|\"b\"\\\\n\\\\x1b |   4 | 1e+30 |\n");
}

// Forges take <int> for an element, and show nothing of it.
TEST(ResultWriterTest, MarkdownShowsNamesAsTheyAre) {
  const std::string text =
      Written(ResultFormat::kMarkdown, {"a_b"}, {{"vector<int>"}, {"a\\|b"}});
  EXPECT_THAT(text, testing::HasSubstr("| a\\_b "));
  EXPECT_THAT(text, testing::HasSubstr("| vector\\<int\\> |"));
  EXPECT_THAT(text, testing::HasSubstr("| a\\\\\\|b "));
}

TEST(ResultWriterTest, WithoutRows) {
  EXPECT_EQ(Written(ResultFormat::kText, {"name"}, {}), "name\n----\n");
  EXPECT_EQ(Written(ResultFormat::kJson, {"name"}, {}), "[]\n");
  EXPECT_EQ(Written(ResultFormat::kCsv, {"name"}, {}), "name\r\n");
}

TEST(ResultWriterTest, LargeResultsAreWrittenOnTheWay) {
  size_t parts = 0;
  ResultWriter writer(ResultFormat::kCsv, [&](std::string_view) {
    return ++parts == 2 ? absl::DataLossError("full") : absl::OkStatus();
  });
  ASSERT_TRUE(writer.Begin({"x"}).ok());
  const std::vector<QueryValue> row = {std::string(1000, 'a')};
  absl::Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) status = writer.Add(row);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(parts, 2);
}

}  // namespace
}  // namespace kymo::query
