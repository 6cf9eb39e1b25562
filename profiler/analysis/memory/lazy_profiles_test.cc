#include "profiler/analysis/memory/lazy_profiles.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/base/parallel.h"
#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

model::Trace OneBlock(int64_t bytes) {
  TestTrace t;
  t.SetWindow(0, 1'000);
  TestMemory memory;
  memory.Allocate({.track = t.AddThread(1, 1, "main"), .bytes = bytes}, 10);
  std::move(memory).AddTo(t.data());
  return std::move(t).Build();
}

TEST(LazyMemoryProfilesTest, AllReadersGetTheSame) {
  const model::Trace trace = OneBlock(100);
  const LazyMemoryProfiles memory(trace);
  const LazyMemoryProfiles reader(trace, &memory);
  std::vector<const MemoryProfile*> read(50);
  ParallelForEach(read.size(), [&](size_t i) {
    read[i] = (i % 2 == 0 ? memory : reader).Get().data();
  });
  for (const MemoryProfile* profiles : read) EXPECT_EQ(profiles, read[0]);
  EXPECT_EQ(memory.Get(), ProfileMemory(trace));
}

// Without Isolated, the thread that makes the profiles takes another reader's
// task while it waits for its loops, and waits for itself for ever.
TEST(LazyMemoryProfilesTest, ItsLoopsTakeNoTaskThatWaitsForThem) {
  TestTrace t;
  t.SetWindow(0, 1'000'000);
  TestMemory memory;
  const model::TrackIndex main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 300'000; ++i) {
    memory.Allocate({.track = main, .bytes = 16}, 10 + i);
  }
  std::move(memory).AddTo(t.data());
  const model::Trace trace = std::move(t).Build();
  const ParallelismLimit limit(4);
  for (int round = 0; round < 10; ++round) {
    const LazyMemoryProfiles profiles(trace);
    std::atomic<size_t> made = 0;
    ParallelForEach(64, [&](size_t) { made += profiles.Get().size(); });
    EXPECT_EQ(made, 64u);
  }
}

// Files that are split by step are made of other traces than the whole one.
TEST(LazyMemoryProfilesTest, OfAnotherTraceItReadsNothing) {
  const model::Trace whole = OneBlock(100);
  const model::Trace part = OneBlock(60);
  const LazyMemoryProfiles of_whole(whole);
  const LazyMemoryProfiles of_part(part, &of_whole);
  ASSERT_EQ(of_part.Get().size(), 1u);
  EXPECT_EQ(of_part.Get()[0].totals.allocated_bytes, 60);
}

}  // namespace
}  // namespace kymo::analysis
