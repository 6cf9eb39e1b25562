#include "profiler/parquet/runs.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kymo::parquet {
namespace {

// A reader of the specification's words alone, bit after bit.
std::vector<uint32_t> Read(const std::string& bytes, int width, size_t count) {
  std::vector<uint32_t> values;
  size_t at = 0;
  while (at < bytes.size()) {
    uint64_t head = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.at(at++));
      head |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) break;
    }
    const bool is_packed = (head & 1) != 0;
    const uint64_t in_run = is_packed ? (head >> 1) * 8 : head >> 1;
    for (uint64_t i = 0; i < in_run; ++i) {
      uint32_t value = 0;
      for (int bit = 0; bit < width; ++bit) {
        const uint64_t place = is_packed ? i * width + bit : bit;
        const auto byte = static_cast<unsigned char>(bytes.at(at + place / 8));
        value |= (byte >> place % 8 & 1u) << bit;
      }
      values.push_back(value);
    }
    at += is_packed ? in_run * width / 8 : (width + 7) / 8;
  }
  // Packed values fill up their last group.
  EXPECT_GE(values.size(), count);
  EXPECT_LT(values.size(), count + 8);
  values.resize(count);
  return values;
}

TEST(RunsTest, AnotherReaderGetsTheSameNumbers) {
  std::mt19937 random(1);
  for (const int width : {1, 2, 3, 7, 8, 9, 16, 20, 31, 32}) {
    for (const size_t size : {0u, 1u, 7u, 8u, 9u, 31u, 64u, 1000u, 5000u}) {
      std::vector<uint32_t> values;
      while (values.size() < size) {
        const uint32_t value = random() >> (32 - width);
        // Runs of all lengths, long ones too.
        const size_t length = random() % 4 == 0 ? random() % 90 : 1;
        for (size_t i = 0; i < length && values.size() < size; ++i) {
          values.push_back(value);
        }
      }
      std::string bytes;
      AppendRuns(values, width, bytes);
      EXPECT_EQ(Read(bytes, width, size), values) << width << " " << size;
      std::vector<uint32_t> again(size);
      EXPECT_TRUE(ReadRuns(bytes, width, again));
      EXPECT_EQ(again, values);
    }
  }
}

TEST(RunsTest, OneValueTakesAFewBytes) {
  std::string bytes;
  AppendRuns(std::vector<uint32_t>(1'000'000, 1), 1, bytes);
  EXPECT_LE(bytes.size(), 4u);
}

TEST(RunsTest, TheOnlyRunIsFound) {
  for (const size_t count : {1u, 30u, 100u, 200'000u}) {
    std::string bytes;
    AppendRun(1, count, 1, bytes);
    EXPECT_EQ(ReadOnlyRun(bytes, 1, count), 1u);
    EXPECT_EQ(ReadOnlyRun(bytes, 1, count + 1), std::nullopt);
    EXPECT_EQ(ReadOnlyRun(bytes.substr(0, bytes.size() - 1), 1, count),
              std::nullopt);
    bytes.back() = 2;  // more bits than the width
    EXPECT_EQ(ReadOnlyRun(bytes, 1, count), std::nullopt);
  }
  std::vector<uint32_t> values(100, 1);
  values[99] = 0;
  std::string bytes;
  AppendRuns(values, 1, bytes);
  EXPECT_EQ(ReadOnlyRun(bytes, 1, values.size()), std::nullopt);
}

TEST(RunsTest, RefusesWhatIsCutOrTooLong) {
  std::vector<uint32_t> values;
  for (uint32_t i = 0; i < 200; ++i) values.push_back(i < 100 ? 5 : i);
  std::string bytes;
  AppendRuns(values, 8, bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadRuns(bytes.substr(0, size), 8, values)) << size;
  }
  // A run of more values than there are.
  std::vector<uint32_t> two(2);
  EXPECT_FALSE(ReadRuns(std::string("\x06\x01", 2), 1, two));
  // A run of nothing, which would never end.
  EXPECT_FALSE(ReadRuns(std::string("\x00\x01\x00\x01", 4), 1, two));
  // A value of more bits than the width.
  EXPECT_FALSE(ReadRuns(std::string("\x04\x02", 2), 1, two));
  // More groups of no bits than any memory has.
  EXPECT_TRUE(ReadRuns("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 0, two));
}

}  // namespace
}  // namespace kymo::parquet
