#include "profiler/analysis/memory/memory_usage.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "profiler/model/folded_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::MemoryEvent;
using model::MemoryRecord;
using model::MemorySource;

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

// Only the heap is sampled: 100 bytes stand for 100 / (1 - 1 / e) of it.
TEST_F(MemoryUsageTest, SamplesOfTheHeapStandForMoreAndReportsDoNot) {
  builder_.data().memory_sample_interval = 100;
  const MemoryUsage usage = Measure(
      {{.source = MemorySource::kHeap, .time_ns = 11, .bytes = 100},
       {.device_type = 1, .device_index = 0, .time_ns = 12, .bytes = 100},
       {.source = MemorySource::kHeap, .time_ns = 13, .bytes = -100}});
  EXPECT_EQ(usage.cpu_bytes, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(usage.device_bytes, (std::vector<int64_t>{100, 100}));
  for (const auto& [source, bytes] :
       {std::pair(MemorySource::kHeap, 158),
        std::pair(MemorySource::kMapped, 100),
        std::pair(MemorySource::kReported, 100)}) {
    TestTrace t;
    t.AddThread(1, 1, "main");
    t.data().memory_sample_interval = 100;
    t.data().memory.push_back({.source = source, .bytes = 100});
    const model::Trace trace = std::move(t).Build();
    EXPECT_EQ(ChargedBytes(trace, 0), bytes);
  }
}

// By PyTorch's numbers of devices.
TEST_F(MemoryUsageTest, KindsOfDevicesAreTheHostsOrADevices) {
  std::vector<MemoryRecord> records;
  for (int8_t type = 0; type <= 21; ++type) {
    records.push_back(
        {.device_type = type, .time_ns = 11, .bytes = int64_t{1} << type});
  }
  const MemoryUsage usage = Measure(records);
  const auto bits = [](std::initializer_list<int> types) {
    int64_t sum = 0;
    for (const int type : types) sum += int64_t{1} << type;
    return std::vector<int64_t>{sum, sum};
  };
  EXPECT_EQ(usage.cpu_bytes, bits({0, 2, 5}));
  EXPECT_EQ(usage.device_bytes, bits({1, 6, 12, 20}));
  for (const MemoryRecord& record : records) {
    const int type = record.device_type;
    EXPECT_EQ(IsHostMemory(record), type == 0 || type == 2 || type == 5);
  }
}

// If the heap was watched, reports of host memory are of the same bytes.
TEST_F(MemoryUsageTest, TheHostCountsByOneSource) {
  const MemoryUsage usage =
      Measure({{.time_ns = 11, .bytes = 1},
               {.source = MemorySource::kMapped, .time_ns = 12, .bytes = 2},
               {.source = MemorySource::kHeap, .time_ns = 13, .bytes = 4},
               {.device_type = 1, .time_ns = 14, .bytes = 8},
               {.time_ns = 200, .bytes = 16},
               {.source = MemorySource::kHeap, .time_ns = 201, .bytes = 32}});
  EXPECT_EQ(usage.cpu_bytes, (std::vector<int64_t>{4, 4}));
  EXPECT_EQ(usage.device_bytes, (std::vector<int64_t>{8, 8}));
  EXPECT_EQ(usage.unattributed, (std::vector<uint32_t>{5}));
}

TEST(HostSourceTest, IsTheHeapIfAnybodyWatchedIt) {
  const auto source_of = [](auto change) {
    TestTrace t;
    t.AddThread(1, 1, "main");
    change(t.data());
    return HostSource(std::move(t).Build());
  };
  EXPECT_EQ(source_of([](model::TraceData&) {}), MemorySource::kReported);
  EXPECT_EQ(source_of([](model::TraceData& data) {
              data.memory.push_back({.source = MemorySource::kMapped});
            }),
            MemorySource::kReported);
  EXPECT_EQ(source_of([](model::TraceData& data) {
              data.memory.push_back({.source = MemorySource::kHeap});
            }),
            MemorySource::kHeap);
  EXPECT_EQ(source_of([](model::TraceData& data) {
              data.folded_memory = std::make_shared<model::FoldedMemory>(
                  model::FoldedMemory{.heaps = {{}}, .live = {}});
            }),
            MemorySource::kHeap);
  // Folded, but no process allocated anything.
  EXPECT_EQ(source_of([](model::TraceData& data) {
              data.folded_memory = std::make_shared<model::FoldedMemory>();
            }),
            MemorySource::kReported);
}

// Threads count apart, and asynchronous ranges and instants have no memory.
TEST(MemoryUsageOfThreadsTest, EachThreadChargesItsOwnRanges) {
  TestTrace t;
  for (const int64_t tid : {1, 2}) {
    const auto track = t.AddThread(1, tid, "worker");
    t.AddRange(track, "outer", 0, 100);
    t.AddRange(track, "async", 5, 90, model::ActivityType::kCpuOp,
               model::kEventAsync);
    t.AddInstant(track, "instant", 6);
    t.AddRange(track, "inner", 20, 30);
    t.data().memory.push_back(
        {.track = track, .time_ns = 7, .bytes = 10 * tid});
    t.data().memory.push_back({.track = track, .time_ns = 25, .bytes = tid});
    t.data().memory.push_back({.track = track, .time_ns = 101, .bytes = 5});
  }
  const MemoryUsage usage = MeasureMemoryUsage(std::move(t).Build());
  EXPECT_EQ(usage.cpu_bytes, (std::vector<int64_t>{11, 0, 0, 1, 22, 0, 0, 2}));
  EXPECT_EQ(usage.unattributed, (std::vector<uint32_t>{2, 5}));
}

}  // namespace
}  // namespace kymo::analysis
