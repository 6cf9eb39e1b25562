#include "exporters/chrome/memory_events.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/chrome/test_chrome.h"
#include "exporters/timeline/memory_counters.h"
#include "profiler/base/parallel.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// `count` allocations of 100 bytes, 10 ns apart; every third is freed at once.
model::Trace ManyHeapRecords(int count) {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  t.SetWindow(0, 10 * count);
  int64_t total = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t bytes = i % 3 == 1 ? -100 : 100;
    total += bytes;
    t.data().memory.push_back({.track = main,
                               .source = model::MemorySource::kHeap,
                               .time_ns = 10 * i,
                               .address = 0x1000 + 16 * uint64_t(i),
                               .bytes = bytes,
                               .total_allocated = total});
  }
  return std::move(t).Build();
}

ExportOptions Limit(const std::string& records) {
  ExportOptions options;
  options.settings["chrome_memory_events"] = records;
  return options;
}

TEST(MemoryEventsTest, GoldenMemory) {
  TestTrace t;
  constexpr TimeNs kBase = 1'735'632'360 * kNsPerSecond;
  t.SetWindow(kBase, kBase + 90'000);
  t.AddProcess(4242, "app");
  const auto main = t.AddThread(4242, 4242, "app");
  t.AddRange(main, "aten::add", kBase + 1'000, kBase + 60'500);
  const auto at = [&](TimeNs time_ns) {
    return model::MemoryRecord{.track = main, .time_ns = kBase + time_ns};
  };
  std::vector<model::MemoryRecord> records(6, at(0));
  records[0] = at(2'001);
  records[0].address = ~uint64_t{0};
  records[0].bytes = records[0].total_allocated = 4'096;
  records[1] = records[0];
  records[1].time_ns += 1'000;
  records[1].bytes = -4'096;
  records[1].total_allocated = 0;
  records[2] = at(4'000);
  records[2].device_type = 1;
  records[2].device_index = 0;
  records[2].address = 512;
  records[2].bytes = 1 << 20;
  records[2].total_allocated = 3 << 20;
  records[2].total_reserved = 8 << 20;
  records[3] = records[2];
  records[3].time_ns += 500;
  records[3].event = model::MemoryEvent::kOutOfMemory;
  records[4] = at(6'000);
  records[4].source = model::MemorySource::kHeap;
  records[4].address = 0x7000;
  records[4].bytes = records[4].total_allocated = 24;
  records[5] = records[4];
  records[5].time_ns += 1;
  records[5].source = model::MemorySource::kMapped;
  t.data().memory.assign(records.begin(), records.end());
  CheckGolden(std::move(t).Build(), "memory");
}

TEST(MemoryEventsTest, IndicesFollowThoseOfTheEvents) {
  const auto memory = Events(ParseJson(ChromeText(ManyHeapRecords(3))), "i");
  ASSERT_GE(memory.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Text(memory[i], "name"), "[memory]");
    EXPECT_EQ(memory[i]
                  .at("args")
                  .struct_value()
                  .fields()
                  .at("Ev Idx")
                  .number_value(),
              i);
  }
}

TEST(MemoryEventsTest, TooManyHeapRecordsLeaveOnlyTheCounters) {
  const model::Trace trace = ManyHeapRecords(10);
  EXPECT_THAT(ChromeText(trace, Limit("9")),
              AllOf(HasSubstr("\n\"kymo_heap_records_left_out\": 10,\n"),
                    HasSubstr("Memory: heap"), Not(HasSubstr("[memory]"))));
  for (const char* enough : {"10", "-1"}) {
    EXPECT_THAT(ChromeText(trace, Limit(enough)),
                AllOf(HasSubstr("[memory]"), Not(HasSubstr("left_out"))));
  }
}

TEST(MemoryEventsTest, AllocationsThatFailedStayBeyondTheLimit) {
  TestTrace t;
  t.AddProcess(7, "app");
  const auto main = t.AddThread(7, 7, "main");
  t.SetWindow(0, 5'000);
  model::MemoryRecord record = {.track = main,
                                .source = model::MemorySource::kHeap,
                                .time_ns = 2'000,
                                .address = 0x7000,
                                .bytes = 24};
  t.data().memory.push_back(record);
  record.event = model::MemoryEvent::kOutOfMemory;
  record.address = 0;
  t.data().memory.push_back(record);
  EXPECT_THAT(ChromeText(std::move(t).Build(), Limit("0")),
              AllOf(HasSubstr("\n\"kymo_heap_records_left_out\": 1,\n"),
                    HasSubstr("[OutOfMemory]"), Not(HasSubstr("[memory]"))));
}

TEST(MemoryEventsTest, TheLimitIsANumber) {
  for (const char* text : {"", "many", "-2", "1.5"}) {
    MemoryDirectory out;
    EXPECT_EQ(NewChromeExporter()
                  ->Export(ManyHeapRecords(1), Limit(text), out)
                  .status()
                  .code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

TEST(MemoryEventsTest, CountersAreThinnedAndKeepTheirPeak) {
  const model::Trace trace = ManyHeapRecords(200'000);
  const std::vector<timeline::MemoryCounter> counters =
      timeline::MemoryCounters(trace);
  ASSERT_EQ(counters.size(), 1u);
  const auto& points = counters[0].points;
  EXPECT_LE(points.size(), timeline::kMaxCounterPoints);
  EXPECT_GE(points.size(), timeline::kMaxCounterPoints / 2);
  int64_t most = 0;
  for (const auto& point : points) most = std::max(most, point.value);
  int64_t peak = 0;
  for (const auto& record : trace.memory()) {
    peak = std::max(peak, record.total_allocated);
  }
  EXPECT_EQ(most, peak);
}

TEST(MemoryEventsTest, TotalsThatNobodyToldMakeNoCounter) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.data().memory.push_back({.track = main, .time_ns = 1, .bytes = 8});
  const model::Trace trace = std::move(t).Build();
  EXPECT_TRUE(timeline::MemoryCounters(trace).empty());
}

TEST(MemoryEventsTest, SameBytesForAnyNumberOfThreads) {
  const model::Trace trace = ManyHeapRecords(100'000);
  const std::string parallel = ChromeText(trace);
  const ParallelismLimit limit(1);
  EXPECT_TRUE(ChromeText(trace) == parallel);
}

}  // namespace
}  // namespace kymo
