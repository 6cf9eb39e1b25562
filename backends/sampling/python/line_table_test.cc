#include "backends/sampling/python/line_table.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <iterator>
#include <random>
#include <vector>

namespace kymo::sampling {
namespace {

std::vector<std::byte> Bytes(std::initializer_list<int> numbers) {
  std::vector<std::byte> bytes;
  for (const int number : numbers) bytes.push_back(std::byte(number));
  return bytes;
}

// What CPython 3.11.2 says of this function, by `f.__code__.co_linetable` and
// `f.__code__.co_lines()`:
//
//   def f(x):          # line 1
//       y = x + 1      # line 2
//       for i in x:
//           y += i     # line 4
//       return y
TEST(LineTableTest, ReadsWhatPythonWrites) {
  const LineTable lines(
      Bytes({0x80, 0x00, 0xd8, 0x08, 0x09, 0x88, 0x41, 0x89, 0x05, 0x80, 0x41,
             0xd8, 0x0d, 0x0e, 0xf0, 0x00, 0x01, 0x05, 0x0f, 0xf0, 0x00, 0x01,
             0x05, 0x0f, 0x88, 0x01, 0xd8, 0x08, 0x09, 0x88, 0x51, 0x89, 0x06,
             0x88, 0x01, 0x88, 0x01, 0xd8, 0x0b, 0x0c, 0x80, 0x48}),
      1);
  const uint32_t expected[] = {1, 2, 2, 2, 2, 2, 3, 3, 3,
                               3, 4, 4, 4, 4, 4, 4, 5, 5};
  for (uint64_t unit = 0; unit < std::size(expected); ++unit) {
    EXPECT_EQ(lines.LineAt(unit), expected[unit]) << unit;
  }
  EXPECT_EQ(lines.LineAt(std::size(expected)), 0u);
  EXPECT_EQ(lines.LineAt(1000), 0u);
}

TEST(LineTableTest, LinesStepBackwards) {
  // Without columns: 1 unit, line -3 (7 = 3 << 1 | 1).
  const LineTable lines(Bytes({0x80 | 13 << 3, 7}), 10);
  EXPECT_EQ(lines.LineAt(0), 7u);
  EXPECT_EQ(lines.LineAt(1), 0u);
}

TEST(LineTableTest, CodeWithoutALineCountsForTheOneBefore) {
  const LineTable lines(
      Bytes({0x80 | 10 << 3, 1, 2, 0x80 | 15 << 3 | 2, 0x80 | 11 << 3, 1, 2}),
      5);
  EXPECT_EQ(lines.LineAt(0), 5u);
  EXPECT_EQ(lines.LineAt(3), 5u);
  EXPECT_EQ(lines.LineAt(4), 6u);
}

TEST(LineTableTest, NonsenseEndsTheTable) {
  // No mark of an entry; a number without end; lines below 0 and too high.
  EXPECT_EQ(LineTable(Bytes({0x10, 0, 0}), 1).LineAt(0), 0u);
  EXPECT_EQ(LineTable(Bytes({0x80 | 13 << 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                             0xff, 0xff}),
                      1)
                .LineAt(0),
            0u);
  EXPECT_EQ(LineTable(Bytes({0x80 | 13 << 3, 7}), 1).LineAt(0), 0u);
  EXPECT_EQ(LineTable(Bytes({0x80 | 13 << 3, 2}), 0x7fffffff).LineAt(0), 0u);
  EXPECT_EQ(LineTable(Bytes({0x80 | 10 << 3, 1}), 1).LineAt(0), 0u);
}

TEST(LineTableTest, AnyBytesDo) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> bytes(random() % 64);
    for (std::byte& byte : bytes) byte = std::byte(random() | 0x80);
    const LineTable lines(bytes, static_cast<int32_t>(random()));
    (void)lines.LineAt(random() % 100);
  }
}

}  // namespace
}  // namespace kymo::sampling
