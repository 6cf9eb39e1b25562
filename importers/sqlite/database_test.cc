#include "importers/sqlite/database.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "importers/sqlite/test_database.h"

namespace kymo::sqlite {
namespace {

Database OpenOrDie(const std::string& path) {
  absl::StatusOr<Database> database = Database::Open(path);
  EXPECT_TRUE(database.ok()) << database.status();
  return *std::move(database);
}

TEST(DatabaseTest, ReadsTheColumnsThatAreAskedFor) {
  const Database db = OpenOrDie(MakeDatabase(
      "columns.sqlite", {"CREATE TABLE t (a INT, b TEXT, c BLOB, d REAL)",
                         "INSERT INTO t VALUES (7, 'seven', x'0102', 0.5)",
                         "INSERT INTO t VALUES (NULL, NULL, NULL, NULL)"}));
  EXPECT_TRUE(db.HasTable("t"));
  EXPECT_FALSE(db.HasTable("u"));
  EXPECT_TRUE(db.HasColumn("t", "c"));
  EXPECT_FALSE(db.HasColumn("t", "e"));
  EXPECT_EQ(db.CountRows("t"), 2);

  Findings findings;
  enum { kD, kC, kB, kA, kNone };
  Rows rows =
      db.Read("t", {{"d"}, {"c"}, {"b"}, {"a", kRequired}, {"none"}}, findings);
  ASSERT_TRUE(rows.Next());
  EXPECT_EQ(rows.Int(kA), 7);
  EXPECT_EQ(rows.Text(kB), "seven");
  EXPECT_EQ(rows.Blob(kC), std::string("\1\2"));
  EXPECT_EQ(rows.Double(kD), 0.5);
  EXPECT_EQ(rows.Double(kA), 7.0);
  EXPECT_EQ(rows.Int(kNone), std::nullopt);
  ASSERT_TRUE(rows.Next());
  EXPECT_EQ(rows.Int(kA), std::nullopt);
  EXPECT_EQ(rows.IntOr(kA, -1), -1);
  EXPECT_EQ(rows.Text(kB), "");
  EXPECT_EQ(rows.Blob(kC), "");
  EXPECT_EQ(rows.Double(kD), std::nullopt);
  EXPECT_FALSE(rows.Next());
  EXPECT_FALSE(rows.Next());
  EXPECT_TRUE(findings.list().empty());
}

TEST(DatabaseTest, AMissingTableHasNoRowsAndIsNoFinding) {
  const Database db =
      OpenOrDie(MakeDatabase("missing.sqlite", {"CREATE TABLE t (a)"}));
  Findings findings;
  EXPECT_FALSE(db.Read("u", {{"a", kRequired}}, findings).Next());
  EXPECT_TRUE(findings.list().empty());
  EXPECT_EQ(db.CountRows("u"), 0);
}

TEST(DatabaseTest, AMissingColumnIsAFindingOnlyWhereItIsRequired) {
  const Database db = OpenOrDie(MakeDatabase(
      "column.sqlite", {"CREATE TABLE t (a)", "INSERT INTO t VALUES (1)"}));
  Findings findings;
  EXPECT_TRUE(db.Read("t", {{"a", kRequired}, {"b"}}, findings).Next());
  EXPECT_TRUE(findings.list().empty());
  EXPECT_FALSE(db.Read("t", {{"a"}, {"b", kRequired}}, findings).Next());
  ASSERT_EQ(findings.list().size(), 1u);
  EXPECT_EQ(findings.list()[0].rule, "column_missing");
  EXPECT_EQ(findings.list()[0].message,
            "t has no column b: its rows cannot be read");
}

TEST(DatabaseTest, EachTableThatCannotBeReadHasItsFinding) {
  const Database db = OpenOrDie(MakeDatabase(
      "columns.sqlite", {"CREATE TABLE t (a)", "CREATE TABLE u (a)"}));
  Findings findings;
  for (const char* const table : {"t", "u", "t"}) {
    db.Read(table, {{"b", kRequired}}, findings);
  }
  ASSERT_EQ(findings.list().size(), 2u);
  EXPECT_EQ(findings.list()[0].count, 2u);
  EXPECT_EQ(findings.list()[1].message,
            "u has no column b: its rows cannot be read");
}

TEST(DatabaseTest, AValueOfAnotherTypeReadsAsNothingAndIsCounted) {
  const Database db = OpenOrDie(MakeDatabase(
      "types.sqlite", {"CREATE TABLE t (a, b)", "INSERT INTO t VALUES ('x', 1)",
                       "INSERT INTO t VALUES (1.5, x'00')"}));
  Findings findings;
  Rows rows = db.Read("t", {{"a"}, {"b"}}, findings);
  ASSERT_TRUE(rows.Next());
  EXPECT_EQ(rows.Int(0), std::nullopt);
  EXPECT_EQ(rows.Text(1), "");
  EXPECT_EQ(rows.Double(0), std::nullopt);
  ASSERT_TRUE(rows.Next());
  EXPECT_EQ(rows.Int(0), std::nullopt);
  const ImportFinding* const finding = FindRule(findings.list(), "wrong_type");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->count, 4u);
  EXPECT_EQ(finding->message, "t.a is a text where an integer is expected");
}

TEST(DatabaseTest, SaysWhyAFileCannotBeOpened) {
  EXPECT_EQ(Database::Open("/no/such/file").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Database::Open(testing::TempDir()).status(),
            absl::InvalidArgumentError(testing::TempDir() +
                                       " is not a regular file"));
  const std::string path = testing::TempDir() + "/text.sqlite";
  WriteFile(path, std::string(5000, 'x'));
  const absl::Status status = Database::Open(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("file is not a database"),
            absl::string_view::npos)
      << status;
}

TEST(DatabaseTest, SaysWhichTypeAValueHas) {
  const Database db = OpenOrDie(MakeDatabase(
      "message.sqlite", {"CREATE TABLE t (i, f, s, b)",
                         "INSERT INTO t VALUES (1, 1.5, 'x', x'00')"}));
  const auto message = [&](auto read) {
    Findings findings;
    Rows rows = db.Read("t", {{"i"}, {"f"}, {"s"}, {"b"}}, findings);
    EXPECT_TRUE(rows.Next());
    read(rows);
    EXPECT_EQ(findings.list().size(), 1u);
    EXPECT_EQ(findings.list()[0].severity, Severity::kError);
    return findings.list()[0].message;
  };
  EXPECT_EQ(message([](Rows& rows) { EXPECT_EQ(rows.Text(0), ""); }),
            "t.i is an integer where a text is expected");
  EXPECT_EQ(message([](Rows& rows) { EXPECT_FALSE(rows.Int(1).has_value()); }),
            "t.f is a number with a fraction where an integer is expected");
  EXPECT_EQ(message([](Rows& rows) { EXPECT_EQ(rows.Blob(2), ""); }),
            "t.s is a text where a blob is expected");
  EXPECT_EQ(message([](Rows& rows) { EXPECT_FALSE(rows.Double(3)); }),
            "t.b is a blob where a number is expected");
}

TEST(DatabaseTest, NamesMayHaveQuotes) {
  const Database db = OpenOrDie(MakeDatabase(
      "quotes.sqlite",
      {R"(CREATE TABLE "a""b" ("c""d"))", R"(INSERT INTO "a""b" VALUES (7))",
       "ANALYZE", "CREATE TABLE sqlitex (a)"}));
  // SQLite's own tables are not listed.
  EXPECT_EQ(db.TableNames(), (std::vector<std::string>{"a\"b", "sqlitex"}));
  EXPECT_EQ(db.CountRows("a\"b"), 1);
  Findings findings;
  Rows rows = db.Read("a\"b", {{"c\"d", kRequired}}, findings);
  ASSERT_TRUE(rows.Next());
  EXPECT_EQ(rows.Int(0), 7);
}

TEST(DatabaseTest, AnEmptyFileIsADatabaseWithoutTables) {
  const std::string path = testing::TempDir() + "/empty.sqlite";
  WriteFile(path, "");
  EXPECT_TRUE(OpenOrDie(path).TableNames().empty());
}

TEST(DatabaseTest, ViewsAreNotTables) {
  const Database db = OpenOrDie(MakeDatabase(
      "view.sqlite",
      {"CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + "
       "1 FROM n) SELECT i FROM n"}));
  EXPECT_FALSE(db.HasTable("v"));
  Findings findings;
  EXPECT_FALSE(db.Read("v", {{"i"}}, findings).Next());
}

TEST(DatabaseTest, ADamagedTableEndsWithAFinding) {
  std::vector<std::string> statements = {"BEGIN", "CREATE TABLE t (a)"};
  for (int i = 0; i < 400; ++i) {
    statements.push_back(
        "INSERT INTO t VALUES ('some text, so that there are "
        "several pages')");
  }
  statements.push_back("COMMIT");
  const std::string path = MakeDatabase("damaged.sqlite", statements);
  std::string bytes = ReadFile(path);
  ASSERT_GT(bytes.size(), 8 * 1024u);
  for (size_t i = 5 * 1024; i < 6 * 1024; ++i) bytes[i] = '\xff';
  WriteFile(path, bytes);
  const Database db = OpenOrDie(path);
  Findings findings;
  Rows rows = db.Read("t", {{"a"}}, findings);
  int read = 0;
  while (rows.Next()) ++read;
  EXPECT_GT(read, 0);
  EXPECT_LT(read, 400);
  ASSERT_NE(FindRule(findings.list(), "database_damaged"), nullptr);
}

// If all children of an inner page are one leaf, the table has many times the
// rows that the file could hold.
TEST(DatabaseTest, PagesThatGoInCirclesEnd) {
  std::vector<std::string> statements = {"BEGIN", "CREATE TABLE t (a)"};
  for (int i = 0; i < 10000; ++i) {
    statements.push_back("INSERT INTO t VALUES (NULL)");
  }
  statements.push_back("COMMIT");
  const std::string path = MakeDatabase("circle.sqlite", statements);
  std::string bytes = ReadFile(path);
  constexpr size_t kPage = 1024;
  const auto number = [&](size_t at, size_t width) {
    size_t value = 0;
    for (size_t i = 0; i < width; ++i) {
      value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    }
    return value;
  };
  const size_t root = kPage;       // the second page
  ASSERT_EQ(number(root, 1), 5u);  // an inner page of a table
  const size_t cells = number(root + 3, 2);
  const auto cell_at = [&](size_t i) {
    return root + number(root + 12 + 2 * i, 2);
  };
  // Moves the first leaf to the third page, and makes every child point there.
  const std::string leaf =
      bytes.substr((number(cell_at(0), 4) - 1) * kPage, kPage);
  ASSERT_EQ(leaf[0], 13);
  bytes.replace(2 * kPage, kPage, leaf);
  const std::string third("\0\0\0\3", 4);
  for (size_t i = 0; i < cells; ++i) bytes.replace(cell_at(i), 4, third);
  bytes.replace(root + 8, 4, third);
  // Cuts off pages that nothing refers to any more; the header has their
  // number.
  constexpr size_t kPages = 3;
  bytes.replace(28, 4, third);
  WriteFile(path, bytes.substr(0, kPages * kPage));

  const Database db = OpenOrDie(path);
  Findings findings;
  Rows rows = db.Read("t", {{"a"}}, findings);
  size_t read = 0;
  while (rows.Next()) ++read;
  EXPECT_EQ(read, kPages * kPage);
  const ImportFinding* const finding =
      FindRule(findings.list(), "database_damaged");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->message,
            "the rows of t end early: there are more of them than the file has "
            "bytes");
}

}  // namespace
}  // namespace kymo::sqlite
