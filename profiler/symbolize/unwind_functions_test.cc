#include "profiler/symbolize/unwind_functions.h"

#include <cstring>

#include "gtest/gtest.h"

namespace kymo::symbolize {
namespace {

std::vector<std::byte> Table(const std::vector<int32_t>& starts,
                             uint32_t count) {
  std::vector<std::byte> bytes = {std::byte{1}, std::byte{0x1b},
                                  std::byte{0x03}, std::byte{0x3b}};
  auto add = [&bytes](auto value) {
    std::byte raw[sizeof(value)];
    std::memcpy(raw, &value, sizeof(value));
    bytes.insert(bytes.end(), raw, raw + sizeof(value));
  };
  add(int32_t{0});
  add(count);
  for (const int32_t start : starts) {
    add(start);
    add(int32_t{0});
  }
  return bytes;
}

TEST(UnwindFunctionsTest, ReadsStartsRelativeToTheSection) {
  EXPECT_EQ(UnwindFunctions::Parse(Table({-0x100, 0x20}, 2), 0x2000),
            (std::vector<uint64_t>{0x1f00, 0x2020}));
}

TEST(UnwindFunctionsTest, CutOrForeignTablesGiveWhatCanBeRead) {
  EXPECT_EQ(UnwindFunctions::Parse(Table({1, 2}, 1000), 0).size(), 2u);
  EXPECT_TRUE(UnwindFunctions::Parse(Table({2, 1}, 2), 0).empty());
  EXPECT_TRUE(UnwindFunctions::Parse({}, 0).empty());
  std::vector<std::byte> other = Table({1}, 1);
  other[3] = std::byte{0x1b};
  EXPECT_TRUE(UnwindFunctions::Parse(other, 0).empty());
  // Another version, or another encoding of what stands before the entries.
  for (const size_t at : {0, 1, 2}) {
    other = Table({1}, 1);
    EXPECT_EQ(UnwindFunctions::Parse(other, 0).size(), 1u);
    other[at] = std::byte{0x7f};
    EXPECT_TRUE(UnwindFunctions::Parse(other, 0).empty()) << at;
  }
  // Cut in the last entry, before the first one, and in the header.
  const std::vector<std::byte> whole = Table({1, 2}, 2);
  const std::span<const std::byte> bytes(whole);
  EXPECT_EQ(UnwindFunctions::Parse(bytes.first(27), 0).size(), 1u);
  EXPECT_EQ(UnwindFunctions::Parse(bytes.first(20), 0).size(), 1u);
  EXPECT_EQ(UnwindFunctions::Parse(bytes.first(19), 0).size(), 0u);
  EXPECT_EQ(UnwindFunctions::Parse(bytes.first(12), 0).size(), 0u);
  EXPECT_EQ(UnwindFunctions::Parse(bytes.first(11), 0).size(), 0u);
  // Fewer than there is room for.
  EXPECT_EQ(UnwindFunctions::Parse(Table({1, 2}, 1), 0).size(), 1u);
}

TEST(UnwindFunctionsTest, NoFileFindsNothing) {
  EXPECT_EQ(UnwindFunctions(ElfImage()).Find(5), std::nullopt);
}

}  // namespace
}  // namespace kymo::symbolize
