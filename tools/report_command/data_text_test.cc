#include "tools/report_command/data_text.h"

#include <gtest/gtest.h>

namespace kymo::tools {
namespace {

TEST(DataTextTest, QuotesWhatCsvNeedsQuoted) {
  DataTable table({"name", "count", "share", "stack"});
  table.AddRow({std::string("a, \"b\""), int64_t{3}, 0.5,
                std::vector<std::string>{"f", "g"}});
  EXPECT_EQ(table.Csv(),
            "name,count,share,stack\r\n\"a, \"\"b\"\"\",3,0.5,\"f\ng\"\r\n");
}

TEST(DataTextTest, CsvHasWholeNumbersWithoutExponents) {
  DataTable table({"a", "b", "c", "d"});
  table.AddRow({3e5, -0.25, 1e30, 123456789012345.0});
  EXPECT_EQ(table.Csv(), "a,b,c,d\r\n300000,-0.25,1e+30,123456789012345\r\n");
}

TEST(DataTextTest, CsvShowsControlCharacters) {
  DataTable table({"name", "stack"});
  table.AddRow(
      {std::string("clear\x1b[2J\n"), std::vector<std::string>{"bell\a", "g"}});
  EXPECT_EQ(table.Csv(), "name,stack\r\nclear\\x1b[2J\\n,\"bell\\x07\ng\"\r\n");
}

TEST(DataTextTest, JsonKeepsTypes) {
  DataTable table({"name", "count", "is_async", "stack"});
  table.AddRow(
      {std::string("a"), int64_t{-3}, true, std::vector<std::string>{"f"}});
  std::string text;
  json::JsonWriter json(text);
  table.WriteJson(json);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_EQ(text, R"([{"name":"a","count":-3,"is_async":true,"stack":["f"]}])");
}

TEST(DataTextTest, NoRowsAreAnEmptyList) {
  const DataTable table({"name"});
  EXPECT_EQ(table.Csv(), "name\r\n");
}

}  // namespace
}  // namespace kymo::tools
