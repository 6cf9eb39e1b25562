#include "profiler/arrow/table_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/arrow/stream.h"
#include "profiler/arrow/test_read.h"
#include "profiler/tables/test_tables.h"
#include "tests/support/test_trace.h"

namespace kymo::arrow {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::StartsWith;

using tables::Table;
using tables::TraceTables;

ReadRows Read(const std::shared_ptr<const TraceTables>& tables,
              const Table& table,
              std::vector<const tables::Column*> columns = {}) {
  if (columns.empty()) columns = TableBatches::AllColumns(table);
  Stream stream;
  ExportStream(
      std::make_unique<TableBatches>(tables, table, std::move(columns)),
      &stream);
  return ReadAll(&stream);
}

TEST(TableBatchesTest, EveryTableHasItsRows) {
  const model::Trace trace = tables::SmallTrace();
  const auto tables = std::make_shared<const TraceTables>(trace);
  for (const Table& table : tables::AllTables()) {
    const ReadRows read = Read(tables, table);
    EXPECT_EQ(read.message, "");
    EXPECT_EQ(read.rows, tables::RowsOf(*tables, table.name)) << table.name;
    EXPECT_EQ(read.fields.size(), table.columns.size());
  }
}

TEST(TableBatchesTest, ColumnsHaveTheTypesOfTheSchema) {
  const model::Trace trace = tables::SmallTrace();
  const auto tables = std::make_shared<const TraceTables>(trace);
  const Table& events = *tables::FindTable("events");
  const ReadRows read =
      Read(tables, events,
           {events.FindColumn("name"), events.FindColumn("is_open"),
            events.FindColumn("step"), events.FindColumn("overload_name")});
  EXPECT_THAT(read.fields, ElementsAre("name:u", "is_open:b", "step:l?",
                                       "overload_name:u?"));
  const Table& counters = *tables::FindTable("counters");
  EXPECT_THAT(Read(tables, counters, {counters.FindColumn("value")}).fields,
              ElementsAre("value:g"));
}

TEST(TableBatchesTest, TextsAreUtf8InManyBatches) {
  TestTrace made;
  const model::TrackIndex main = made.AddThread(1, 1, "main");
  constexpr int kEvents = 70'000;
  for (int i = 0; i < kEvents; ++i) {
    made.AddRange(main,
                  i % 2 == 0 ? "a\xFF"
                               "b"
                             : "plain",
                  i, i + 1);
  }
  const model::Trace trace = std::move(made).Build();
  const auto tables = std::make_shared<const TraceTables>(trace);
  const Table& events = *tables::FindTable("events");
  const ReadRows read = Read(
      tables, events, {events.FindColumn("id"), events.FindColumn("name")});
  EXPECT_THAT(read.batch_rows, ElementsAre(65'536, kEvents - 65'536));
  ASSERT_EQ(read.rows.size(), kEvents);
  for (int i = 0; i < kEvents; ++i) {
    ASSERT_EQ(read.rows[i], std::to_string(i) + "|" +
                                (i % 2 == 0 ? "a\xEF\xBF\xBD"
                                              "b"
                                            : "plain"));
  }
}

TEST(TableBatchesTest, LongTextsMakeShortBatches) {
  TestTrace made;
  const model::TrackIndex main = made.AddThread(1, 1, "main");
  const std::string text(size_t{30} << 20, 'x');
  for (int i = 0; i < 5; ++i) {
    made.AddRange(main, text + std::to_string(i), i, i + 1);
  }
  const model::Trace trace = std::move(made).Build();
  const auto tables = std::make_shared<const TraceTables>(trace);
  const Table& events = *tables::FindTable("events");
  const ReadRows read = Read(tables, events, {events.FindColumn("name")});
  EXPECT_THAT(read.batch_rows, ElementsAre(2, 2, 1));
  EXPECT_THAT(read.rows, Each(StartsWith("xxx")));
}

}  // namespace
}  // namespace kymo::arrow
