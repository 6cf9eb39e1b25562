#include "profiler/tables/table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kymo::tables {
namespace {

bool IsLowerSnake(std::string_view name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == name.npos;
}

bool EndsInStop(std::string_view text) {
  return text.ends_with(".") && !text.ends_with("...");
}

TEST(TableTest, NamesAreUniqueAndLowerSnake) {
  std::set<std::string_view> tables;
  for (const Table& table : AllTables()) {
    EXPECT_TRUE(IsLowerSnake(table.name)) << table.name;
    EXPECT_TRUE(tables.insert(table.name).second) << table.name;
    EXPECT_EQ(FindTable(table.name), &table);
    std::set<std::string_view> columns;
    for (const Column& column : table.columns) {
      EXPECT_TRUE(IsLowerSnake(column.name)) << column.name;
      EXPECT_TRUE(columns.insert(column.name).second) << column.name;
      EXPECT_EQ(table.FindColumn(column.name), &column);
    }
  }
  EXPECT_EQ(FindTable("no_table"), nullptr);
  EXPECT_EQ(AllTables()[0].FindColumn("no_column"), nullptr);
}

TEST(TableTest, AColumnHasTheReaderOfItsType) {
  for (const Table& table : AllTables()) {
    EXPECT_NE(table.row_count, nullptr);
    for (const Column& column : table.columns) {
      const bool is_text = column.type == ColumnType::kText;
      const bool is_double = column.type == ColumnType::kDouble;
      EXPECT_EQ(column.texts != nullptr, is_text) << column.name;
      EXPECT_EQ(column.doubles != nullptr, is_double) << column.name;
      EXPECT_EQ(column.ints != nullptr, !is_text && !is_double) << column.name;
    }
  }
}

// A unit is in the name, ids say what they name, and bools begin with is_.
TEST(TableTest, NamesSayWhatTheValuesAre) {
  for (const Table& table : AllTables()) {
    for (const Column& column : table.columns) {
      const std::string name(column.name);
      const std::string where = std::string(table.name) + "." + name;
      EXPECT_EQ(column.unit == "ns", name.ends_with("_ns")) << where;
      if (name.ends_with("bytes")) {
        EXPECT_EQ(column.unit, "bytes") << where;
      }
      EXPECT_EQ(column.type == ColumnType::kBool, name.starts_with("is_"))
          << where;
      EXPECT_FALSE(column.meaning.empty() || EndsInStop(column.meaning))
          << where;
      if (column.references.empty()) continue;
      EXPECT_TRUE(name.ends_with("_id")) << where;
      const size_t dot = column.references.find('.');
      const Table* const other = FindTable(column.references.substr(0, dot));
      ASSERT_NE(other, nullptr) << where;
      EXPECT_NE(other->FindColumn(column.references.substr(dot + 1)), nullptr)
          << where;
    }
    EXPECT_FALSE(table.meaning.empty() || EndsInStop(table.meaning));
    EXPECT_FALSE(table.example.empty()) << table.name;
  }
}

}  // namespace
}  // namespace kymo::tables
