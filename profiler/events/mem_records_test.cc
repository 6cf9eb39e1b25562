#include "profiler/events/mem_records.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MemRecord At(int64_t time_ns, int64_t bytes, size_t source,
             DeviceType type = DeviceType::kCpu) {
  return {.time_ns = time_ns,
          .bytes = bytes,
          .device_type = type,
          .source = source};
}

TEST(MemRecordsTest, HeaderExample) {
  MemRecordsAcc records({{.time_ns = 3, .bytes = 100},  //
                         {.time_ns = 5, .bytes = 50}});
  EXPECT_EQ(records.Claim(2, 5).cpu_bytes, 150);
  EXPECT_THAT(records.Unclaimed(), IsEmpty());
}

TEST(MemRecordsTest, IntervalsIncludeBothEnds) {
  const MemRecordsAcc records({At(5, 1, 0), At(1, 2, 1), At(5, 3, 2)});
  std::vector<size_t> sources;
  for (const MemRecord& record : records.in_interval(1, 5)) {
    sources.push_back(record.source);
  }
  EXPECT_THAT(sources, ElementsAre(1, 0, 2));  // ties as given
  EXPECT_EQ(records.in_interval(5, 5).size(), 2u);
  EXPECT_THAT(records.in_interval(2, 4), IsEmpty());
  EXPECT_THAT(MemRecordsAcc({}).in_interval(0, 9), IsEmpty());
}

TEST(MemRecordsTest, EmptyAndInvertedIntervalsClaimNothing) {
  MemRecordsAcc records({At(3, 1, 7)});
  EXPECT_EQ(records.Claim(4, 9).cpu_bytes, 0);
  EXPECT_EQ(records.Claim(9, 1).cpu_bytes, 0);
  EXPECT_THAT(records.Unclaimed(), ElementsAre(7));
}

TEST(MemRecordsTest, HostAndDeviceBytesAreApart) {
  MemRecordsAcc records({At(1, 1, 0), At(1, 2, 1, DeviceType::kMkldnn),
                         At(1, 4, 2, DeviceType::kCuda),
                         At(1, 8, 3, DeviceType::kXpu),
                         At(1, 16, 4, DeviceType::kFpga)});
  const MemUsage usage = records.Claim(0, 2);
  EXPECT_EQ(usage.cpu_bytes, 3);
  EXPECT_EQ(usage.device_bytes, 12);
  EXPECT_THAT(records.Unclaimed(), IsEmpty());
}

TEST(MemRecordsTest, OverlappingClaimsAgreeWithMarkingEachRecord) {
  std::mt19937 random(7);
  const auto below = [&](int n) {
    return std::uniform_int_distribution<int>(0, n - 1)(random);
  };
  std::vector<MemRecord> list;
  for (size_t i = 0; i < 100; ++i) {
    list.push_back(At(below(200), below(9) - 4, i));
  }
  MemRecordsAcc records(list);
  std::vector<bool> is_claimed(list.size());
  for (int round = 0; round < 10; ++round) {
    const int begin = below(200);
    const int end = begin + below(10);
    int64_t bytes = 0;
    for (const MemRecord& record : list) {
      if (record.time_ns < begin || record.time_ns > end) continue;
      bytes += record.bytes;
      is_claimed[record.source] = true;
    }
    EXPECT_EQ(records.Claim(begin, end).cpu_bytes, bytes);
  }
  for (const size_t source : records.Unclaimed()) {
    EXPECT_FALSE(is_claimed[source]);
    is_claimed[source] = true;
  }
  EXPECT_THAT(is_claimed, testing::Each(true));
}

}  // namespace
}  // namespace kymo
