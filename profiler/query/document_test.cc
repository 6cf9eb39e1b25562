// Holds docs/query.md to the declarations of tables, functions, views and
// queries. What should stand there is in the test's outputs (schema.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"
#include "profiler/query/functions.h"
#include "profiler/query/ready_queries.h"
#include "profiler/query/views.h"
#include "profiler/tables/table.h"

namespace kymo::query {
namespace {

std::string Document() {
  std::ifstream file(std::getenv("KYMO_DOCUMENT"));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string TableText(const tables::Table& table) {
  std::string text = absl::StrCat(
      "### `", ToAbsl(table.name), "`\n\n", ToAbsl(table.meaning),
      ".\nOrder of the rows: ", ToAbsl(table.order), ".\n\n    ",
      ToAbsl(table.example), "\n\n| column | type | unit | meaning |\n",
      "|---|---|---|---|\n");
  for (const tables::Column& column : table.columns) {
    absl::StrAppend(&text, "| `", ToAbsl(column.name), "` | ",
                    ToAbsl(tables::ColumnTypeName(column.type)),
                    column.is_nullable ? " or NULL" : "", " | ",
                    ToAbsl(column.unit), column.unit.empty() ? "" : " ", "| ",
                    ToAbsl(column.meaning));
    if (!column.references.empty()) {
      absl::StrAppend(&text, " (`", ToAbsl(column.references), "`)");
    }
    text += " |\n";
  }
  return text;
}

std::string FunctionsText() {
  std::string text = "| function | value |\n|---|---|\n";
  for (const FunctionInfo& function : Functions()) {
    absl::StrAppend(&text, "| `", ToAbsl(function.call), "` | ",
                    ToAbsl(function.meaning), " |\n");
  }
  return text;
}

std::string ViewsText() {
  std::string text = "| view | columns |\n|---|---|\n";
  for (const View& view : Views()) {
    absl::StrAppend(&text, "| `", ToAbsl(view.name), "` | ",
                    ToAbsl(view.columns), " |\n");
  }
  return text;
}

std::string QueriesText() {
  std::string text = "| query | answers |\n|---|---|\n";
  for (const ReadyQuery& query : ReadyQueries()) {
    absl::StrAppend(&text, "| `", ToAbsl(query.name), "` | ",
                    ToAbsl(query.purpose), " |\n");
  }
  return text;
}

TEST(DocumentTest, HasAllThatIsDeclared) {
  const std::string document = Document();
  std::string expected;
  for (const std::string& part :
       {FunctionsText(), ViewsText(), QueriesText()}) {
    EXPECT_NE(document.find(part), document.npos) << part;
    absl::StrAppend(&expected, part, "\n");
  }
  for (const tables::Table& table : tables::AllTables()) {
    const std::string part = TableText(table);
    EXPECT_NE(document.find(part), document.npos) << part;
    absl::StrAppend(&expected, part, "\n");
  }
  EXPECT_NE(document.find(absl::StrCat("version of the schema is ",
                                       tables::kSchemaVersion)),
            document.npos);
  if (const char* const outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR")) {
    std::ofstream(std::string(outputs) + "/schema.md") << expected;
  }
}

// No table is there that the schema does not have.
TEST(DocumentTest, HasNoOtherTable) {
  const std::string document = Document();
  size_t count = 0;
  for (size_t at = document.find("\n### `"); at != document.npos;
       at = document.find("\n### `", at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, tables::AllTables().size());
}

}  // namespace
}  // namespace kymo::query
