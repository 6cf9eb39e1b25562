#include "profiler/arrow/row_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "profiler/arrow/stream.h"
#include "profiler/arrow/test_read.h"

namespace kymo::arrow {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ReadRows Read(std::shared_ptr<const StoredRows> rows) {
  Stream stream;
  ExportStream(std::make_unique<StoredBatches>(std::move(rows)), &stream);
  return ReadAll(&stream);
}

TEST(RowStoreTest, ColumnsHaveTheTypeOfTheirValues) {
  RowStore store({"int", "double", "both", "bool", "text", "none", "mixed"});
  store.column(0).Add(int64_t{7});
  store.column(0).AddNull();
  store.column(1).AddNull();
  store.column(1).Add(0.5);
  store.column(2).Add(int64_t{3});
  store.column(2).Add(1.5);
  store.column(3).Add(true);
  store.column(3).Add(false);
  store.column(4).Add(std::string_view("a"));
  store.column(4).Add(std::string_view(""));
  store.column(5).AddNull();
  store.column(5).AddNull();
  store.column(6).Add(int64_t{-1});
  store.column(6).Add(std::string_view("b"));
  const auto rows = std::move(store).Finish();
  EXPECT_EQ(rows->rows, 2u);
  const ReadRows read = Read(rows);
  EXPECT_THAT(read.fields,
              ElementsAre("int:l?", "double:g?", "both:g?", "bool:b?",
                          "text:u?", "none:n?", "mixed:u?"));
  EXPECT_THAT(read.rows, ElementsAre("7|-|3|1|a|-|-1", "-|0.5|1.5|0||-|b"));
  // As often as one likes.
  EXPECT_EQ(Read(rows).rows, read.rows);
}

TEST(RowStoreTest, TextsAreUtf8) {
  RowStore store({"text"});
  store.column(0).Add(std::string_view("\xC3"));
  store.column(0).Add(std::string_view("\xC3\xA9"));
  EXPECT_THAT(Read(std::move(store).Finish()).rows,
              ElementsAre("\xEF\xBF\xBD", "\xC3\xA9"));
}

TEST(RowStoreTest, NoRowsAreColumnsWithoutType) {
  RowStore store({"a", "b"});
  const ReadRows read = Read(std::move(store).Finish());
  EXPECT_THAT(read.fields, ElementsAre("a:n?", "b:n?"));
  EXPECT_THAT(read.rows, IsEmpty());
}

TEST(RowStoreTest, ManyRowsAreManyBatches) {
  RowStore store({"n"});
  for (int64_t i = 0; i < 70'000; ++i) store.column(0).Add(i);
  const ReadRows read = Read(std::move(store).Finish());
  EXPECT_THAT(read.batch_rows, ElementsAre(65'536, 70'000 - 65'536));
  EXPECT_EQ(read.rows[69'999], "69999");
}

TEST(RowStoreTest, MemoryIsThatOfValuesAndTexts) {
  RowStore store({"n", "text"});
  for (int i = 0; i < 100; ++i) {
    store.column(0).Add(int64_t{1});
    store.column(1).Add(std::string_view("0123456789"));
  }
  EXPECT_EQ(store.memory_bytes(), 100u * (9 + 9 + 10 + 8));
}

}  // namespace
}  // namespace kymo::arrow
