#include "profiler/analysis/memory/memory_pools.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::MemorySource;

TEST(MemoryPoolsTest, AreOfOneProcessSourceAndDevice) {
  TestTrace t;
  const auto one = t.AddThread(1, 1, "one");
  const auto also_one = t.AddThread(1, 2, "also one");
  const auto two = t.AddThread(2, 3, "two");
  t.data().memory = {
      {.track = one, .source = MemorySource::kHeap, .time_ns = 1, .bytes = 1},
      {.track = one, .source = MemorySource::kMapped, .time_ns = 2, .bytes = 1},
      {.track = also_one,
       .source = MemorySource::kHeap,
       .time_ns = 1,
       .bytes = 1},
      {.track = two, .device_type = 1, .device_index = 0, .bytes = 1},
      {.track = two, .device_type = 1, .device_index = 1, .bytes = 1}};
  const model::Trace trace = std::move(t).Build();

  const MemoryPools pools(trace);
  EXPECT_EQ(std::vector(pools.all().begin(), pools.all().end()),
            (std::vector<MemoryPool>{
                {.pid = 1, .source = MemorySource::kHeap},
                {.pid = 1, .source = MemorySource::kMapped},
                {2, kNoProcess, MemorySource::kReported, 1, 0},
                {2, kNoProcess, MemorySource::kReported, 1, 1}}));
  std::vector<size_t> indices;
  for (const auto& record : trace.memory()) {
    indices.push_back(pools.IndexOf(record));
  }
  EXPECT_EQ(indices, (std::vector<size_t>{0, 1, 0, 2, 3}));
}

TEST(MemoryPoolsTest, AnExecBeginsANewOne) {
  TestTrace t;
  t.data().processes = {{.pid = 7, .start_ns = 0}, {.pid = 7, .start_ns = 50}};
  const auto main = t.AddThread(7, 7, "main");
  t.data().memory = {{.track = main, .time_ns = 49, .bytes = 1},
                     {.track = main, .time_ns = 50, .bytes = 1}};
  const model::Trace trace = std::move(t).Build();

  const MemoryPools pools(trace);
  ASSERT_EQ(pools.size(), 2u);
  EXPECT_EQ(pools.all()[0].process, 0u);
  EXPECT_EQ(pools.IndexOf(trace.memory()[0]), 0u);
  EXPECT_EQ(pools.IndexOf(trace.memory()[1]), 1u);
}

TEST(MemoryPoolsTest, WithoutRecordsThereAreNone) {
  const model::Trace trace = TestTrace().Build();
  EXPECT_EQ(MemoryPools(trace).size(), 0u);
}

TEST(MemoryPoolsTest, EachProgramOfAProcessBeginsAtItsStart) {
  TestTrace t;
  t.data().processes = {{.pid = 3, .start_ns = 10},
                        {.pid = 7, .start_ns = 20},
                        {.pid = 7, .start_ns = 50},
                        {.pid = 7, .start_ns = 90},
                        {.pid = 9}};
  t.AddThread(3, 3, "before");
  t.AddThread(7, 7, "execs");
  t.AddThread(8, 8, "unknown");
  t.AddThread(9, 9, "after");
  const model::Trace trace = std::move(t).Build();
  const MemoryPools pools(trace);
  const std::vector<std::vector<uint32_t>> expected = {
      {0, 0, 0, 0, 0, 0, 0},
      {1, 1, 1, 2, 2, 3, 3},
      std::vector<uint32_t>(7, kNoProcess),
      {4, 4, 4, 4, 4, 4, 4}};
  for (model::TrackIndex track = 0; track < 4; ++track) {
    std::vector<uint32_t> processes;
    for (const TimeNs time_ns : {0, 20, 49, 50, 89, 90, 200}) {
      processes.push_back(pools.ProcessAt(track, time_ns));
    }
    EXPECT_EQ(processes, expected[track]) << track;
  }
}

}  // namespace
}  // namespace kymo::analysis
