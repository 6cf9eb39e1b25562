#include "profiler/analysis/device/device_copies.h"

#include <limits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;
using model::Arg;

TEST(DeviceCopiesTest, SumsBytesAndBandwidthByDirection) {
  TestTrace t;
  const auto bytes = t.Intern("bytes");
  const auto stream = t.AddStream(0, 7, 1);
  const auto copy = [&](const char* name, TimeNs start, TimeNs end) {
    t.AddRange(stream, name, start, end, ActivityType::kGpuMemcpy);
  };
  copy("Memcpy HtoD (Pageable -> Device)", 0, 100);
  t.Describe(1, {Arg::Int(bytes, 1000)});
  copy("Memcpy HtoD (Pinned -> Device)", 100, 150);
  t.Describe(2, {Arg::Int(bytes, 2000)});
  copy("Memcpy HtoD (Pinned -> Device)", 150, 160);
  copy("Memcpy DtoH (Device -> Pinned)", 160, 170);
  t.Describe(3, {Arg::Double(t.Intern("memory bandwidth (GB/s)"), 2.5)});
  t.AddRange(stream, "gemm", 170, 180, ActivityType::kConcurrentKernel);
  const model::Trace trace = std::move(t).Build();

  const std::vector<CopySum> sums = CopySums(trace);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].direction, "Memcpy DtoH");
  EXPECT_EQ(sums[0].bytes, 25);
  const CopySum& to_device = sums[1];
  EXPECT_EQ(to_device.direction, "Memcpy HtoD");
  EXPECT_EQ(to_device.count, 3);
  EXPECT_EQ(to_device.unknown_count, 1);
  EXPECT_EQ(to_device.bytes, 3000);
  EXPECT_EQ(to_device.total_ns, 160);
  EXPECT_EQ(to_device.known_ns, 150);
  EXPECT_DOUBLE_EQ(to_device.bytes_per_second(), 20e9);
  EXPECT_DOUBLE_EQ(to_device.min_bytes_per_second, 10e9);
  EXPECT_DOUBLE_EQ(to_device.max_bytes_per_second, 40e9);
}

TEST(DeviceCopiesTest, NumbersThatAreNoSizesAreNotKnown) {
  TestTrace t;
  const auto bytes = t.Intern("bytes");
  const auto rate = t.Intern("memory bandwidth (GB/s)");
  const auto stream = t.AddStream(0, 7, 1);
  const auto copy = [&](Arg arg) {
    t.AddRange(stream, "Memset (Device)", 0, 10, ActivityType::kGpuMemset);
    t.Describe(1, {arg});
  };
  copy(Arg::Int(bytes, -1));
  copy(Arg::Int(bytes, std::numeric_limits<int64_t>::max()));
  copy(Arg::Double(bytes, std::numeric_limits<double>::quiet_NaN()));
  copy(Arg::Double(rate, std::numeric_limits<double>::infinity()));
  copy(Arg::Double(rate, 9e14));
  copy(Arg::String(bytes, rate));
  const model::Trace trace = std::move(t).Build();
  const std::vector<CopySum> sums = CopySums(trace);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].count, 6);
  EXPECT_EQ(sums[0].unknown_count, 6);
  EXPECT_EQ(sums[0].bytes_per_second(), 0);
}

// Below a petabyte. A bandwidth counts where no size does.
TEST(DeviceCopiesTest, SizesAreKnownUpToTheLimit) {
  const auto bytes_of = [](double bytes, double bandwidth, DurationNs length) {
    TestTrace t;
    const auto stream = t.AddStream(0, 7, 1);
    t.AddRange(stream, "Memset", 0, length, ActivityType::kGpuMemset);
    t.Describe(1, {Arg::Double(t.Intern("memory bandwidth (GB/s)"), bandwidth),
                   Arg::Double(t.Intern("bytes"), bytes),
                   Arg::Int(t.Intern("other"), 77)});
    const std::vector<CopySum> sums = CopySums(std::move(t).Build());
    EXPECT_EQ(sums.size(), 1u);
    EXPECT_EQ(sums[0].direction, "Memset");
    EXPECT_EQ(sums[0].known_ns, sums[0].unknown_count == 0 ? length : 0);
    return sums[0].unknown_count != 0 ? -1 : sums[0].bytes;
  };
  EXPECT_EQ(bytes_of(0, -1, 10), 0);
  EXPECT_EQ(bytes_of(5, 2, 10), 5);
  EXPECT_EQ(bytes_of(999'999'999'999'999, -1, 10), 999'999'999'999'999);
  EXPECT_EQ(bytes_of(1e15, -1, 10), -1);
  EXPECT_EQ(bytes_of(1e15, 2, 10), 20);
  EXPECT_EQ(bytes_of(-1, 9.9e13, 10), 990'000'000'000'000);
  EXPECT_EQ(bytes_of(-1, 1e14, 10), -1);
}

}  // namespace
}  // namespace kymo::analysis
