#include "profiler/analysis/memory/memory_usage.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::MemoryEvent;
using model::MemoryRecord;

// outer [0, 100] with inner [10, 20], and records added by each test.
class MemoryUsageTest : public testing::Test {
 protected:
  MemoryUsageTest() {
    main_ = builder_.AddThread(1, 1, "main");
    builder_.AddRange(main_, "outer", 0, 100);
    builder_.AddRange(main_, "inner", 10, 20);
  }

  MemoryUsage Measure(std::vector<MemoryRecord> records) {
    builder_.data().memory.assign(records.begin(), records.end());
    const model::Trace trace = std::move(builder_).Build();
    EXPECT_TRUE(ValidateTrace(trace).ok());
    return MeasureMemoryUsage(trace);
  }

  TestTrace builder_;
  model::TrackIndex main_ = 0;
};

TEST_F(MemoryUsageTest, ChargesTheInnermostAndAllAroundIt) {
  const MemoryUsage usage = Measure({{.time_ns = 5, .bytes = 100},
                                     {.time_ns = 15, .bytes = 7},
                                     {.time_ns = 16, .bytes = -3}});
  EXPECT_EQ(usage.cpu_bytes, (std::vector<int64_t>{104, 4}));
  EXPECT_EQ(usage.device_bytes, (std::vector<int64_t>{0, 0}));
  EXPECT_TRUE(usage.unattributed.empty());
}

TEST_F(MemoryUsageTest, BoundsBelongToTheRange) {
  const MemoryUsage usage = Measure({{.time_ns = 10, .bytes = 1},
                                     {.time_ns = 20, .bytes = 2},
                                     {.time_ns = 21, .bytes = 4},
                                     {.time_ns = 100, .bytes = 8},
                                     {.time_ns = 101, .bytes = 16}});
  EXPECT_EQ(usage.cpu_bytes, (std::vector<int64_t>{15, 3}));
  EXPECT_EQ(usage.unattributed, (std::vector<uint32_t>{4}));
}

TEST_F(MemoryUsageTest, DeviceMemoryIsApartAndFailuresCountNowhere) {
  const MemoryUsage usage =
      Measure({{.device_type = 1, .device_index = 0, .time_ns = 1, .bytes = 64},
               {.event = MemoryEvent::kOutOfMemory, .time_ns = 2, .bytes = 512},
               {.device_type = 9, .time_ns = 3, .bytes = 128}});
  EXPECT_EQ(usage.cpu_bytes, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(usage.device_bytes, (std::vector<int64_t>{64, 0}));
}

TEST_F(MemoryUsageTest, WithoutRecordsThereIsNothing) {
  EXPECT_TRUE(Measure({}).cpu_bytes.empty());
}

}  // namespace
}  // namespace kymo::analysis
