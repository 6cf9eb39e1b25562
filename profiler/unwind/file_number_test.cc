#include "profiler/unwind/file_number.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace kymo::unwind {
namespace {

// Identities that all look for their entry in the same place.
uint64_t Colliding(uint64_t i) { return (uint64_t{7} << 52) + 1 + i; }

TEST(FileNumberTest, AFileKeepsItsNumberAndSharesItWithNoOther) {
  std::set<uint32_t> numbers;
  for (uint64_t i = 0; i < 100; ++i) {
    const uint32_t number = FileNumber(Colliding(i));
    EXPECT_NE(number, 0u);
    EXPECT_LE(number, kMostFiles);
    EXPECT_TRUE(numbers.insert(number).second);
  }
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(numbers.count(FileNumber(Colliding(i))));
    EXPECT_EQ(FileNumber(Colliding(i)), FileNumber(Colliding(i)));
  }
}

TEST(FileNumberTest, AnIdentityThatHashesToZeroHasANumber) {
  EXPECT_NE(FileNumber(3), 0u);
  EXPECT_NE(FileNumber(3), FileNumber(4));
  EXPECT_EQ(FileNumber(0), 0u);
}

TEST(FileNumberTest, ThreadsAgree) {
  constexpr int kThreads = 4;
  std::vector<std::vector<uint32_t>> seen(kThreads);
  std::vector<std::thread> threads;
  for (auto& numbers : seen) {
    threads.emplace_back([&numbers] {
      for (uint64_t i = 0; i < 500; ++i) {
        numbers.push_back(FileNumber(0x9e3779b97f4a7c15u * (i % 250 + 1)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& numbers : seen) EXPECT_EQ(numbers, seen[0]);
  EXPECT_EQ(std::set<uint32_t>(seen[0].begin(), seen[0].end()).size(), 250u);
}

// Runs last: it fills the table.
TEST(FileNumberTest, FilesBeyondTheLimitHaveNone) {
  const uint32_t known = FileNumber(Colliding(1));
  uint32_t number = 1;
  for (uint64_t i = 0; number != 0 && i <= kMostFiles; ++i) {
    number = FileNumber((i + 1) << 20 | 0x55555);
  }
  EXPECT_EQ(number, 0u);
  EXPECT_EQ(FileNumber(Colliding(1)), known);
}

}  // namespace
}  // namespace kymo::unwind
