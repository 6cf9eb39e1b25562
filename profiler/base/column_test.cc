#include "profiler/base/column.h"

#include <cstdint>
#include <numeric>
#include <utility>

#include "gtest/gtest.h"

namespace kymo {
namespace {

TEST(ColumnTest, HoldsWhatIsWrittenWhateverItsSize) {
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{1000}, size_t{3} << 20}) {
    Column<uint64_t> column(size);
    std::iota(column.begin(), column.end(), size);
    const Column<uint64_t> moved = std::move(column);
    const Column<uint64_t> copy = moved;
    ASSERT_EQ(copy.size(), size);
    EXPECT_EQ(copy, moved);
    EXPECT_TRUE(copy.empty() || copy.back() == 2 * size - 1);
  }
}

TEST(ColumnTest, GivenValuesAreWritten) {
  Column<uint32_t> column(10, 7);
  column.push_back(8);
  column.insert(column.end(), {9, 10});
  EXPECT_EQ(column[9], 7u);
  EXPECT_EQ(column[12], 10u);
}

TEST(ColumnTest, GrowsPastTheSizeOfHugePages) {
  Column<uint32_t> column;
  for (uint32_t i = 0; i < 3'000'000; ++i) column.push_back(i);
  for (uint32_t i = 0; i < column.size(); ++i) ASSERT_EQ(column[i], i);
}

TEST(ColumnTest, LargeColumnsAreAligned) {
  const Column<uint64_t> column(1 << 20);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(column.data()) % (2 << 20), 0u);
}

}  // namespace
}  // namespace kymo
