#include "profiler/analysis/memory/live_bytes.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::MemorySource;

std::vector<int64_t> LiveOf(const model::Trace& trace) {
  const MemoryPools pools(trace);
  const LiveBytes live(trace, pools);
  std::vector<int64_t> after;
  for (model::MemoryIndex i = 0; i < trace.memory().size(); ++i) {
    after.push_back(live.After(i));
  }
  return after;
}

TEST(LiveBytesTest, OfTheHeapAreWhatItsRecordsKnow) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  const auto other = t.AddThread(1, 2, "other");
  TestMemory memory;
  const auto block = memory.Allocate({.track = main, .bytes = 100}, 1);
  memory.Allocate({.track = other, .bytes = 20}, 2);
  memory.Free(block, main, 3);
  std::move(memory).AddTo(t.data());
  EXPECT_EQ(LiveOf(std::move(t).Build()), (std::vector<int64_t>{100, 20, 120}));
}

TEST(LiveBytesTest, OfReportsAreSumsInTheOrderOfTime) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  const auto other = t.AddThread(1, 2, "other");
  t.data().memory = {
      {.track = main, .time_ns = 1, .bytes = 100},
      {.track = main, .time_ns = 3, .bytes = -60},
      {.track = other, .time_ns = 2, .bytes = 7, .total_allocated = 1'000'000},
      {.track = other,
       .device_type = 1,
       .device_index = 0,
       .time_ns = 4,
       .bytes = 5}};
  EXPECT_EQ(LiveOf(std::move(t).Build()),
            (std::vector<int64_t>{100, 47, 107, 5}));
}

TEST(LiveBytesTest, AMappingEndsWhereItsAddressComesAgain) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  TestMemory memory;
  const auto old = memory.Allocate(
      {.track = main, .bytes = 4096, .source = MemorySource::kMapped}, 1);
  const auto replacing = memory.Replace(old, main, 2);
  memory.Free(replacing, main, 3);
  std::move(memory).AddTo(t.data());
  EXPECT_EQ(LiveOf(std::move(t).Build()),
            (std::vector<int64_t>{4096, 4096, 0}));
}

}  // namespace
}  // namespace kymo::analysis
