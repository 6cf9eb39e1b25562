#include "profiler/analysis/memory/memory_blocks.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/analysis/memory/memory_groups.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::MemorySource;

model::Trace TraceOf(std::vector<model::MemoryRecord> records,
                     double interval = 0) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.data().memory.assign(records.begin(), records.end());
  t.data().memory_sample_interval = interval;
  return std::move(t).Build();
}

TEST(MemoryBlocksTest, PartnersTellHowABlockEnded) {
  const model::Trace trace =
      TraceOf({{.time_ns = 1, .address = 16, .bytes = 8, .partner = 3},
               {.time_ns = 2, .address = 32, .bytes = 8, .partner = 4},
               {.time_ns = 3, .address = 48, .bytes = 8},
               {.time_ns = 4, .address = 16, .bytes = -8, .partner = 0},
               {.time_ns = 5, .address = 32, .bytes = 8}});
  const MemoryBlocks blocks(trace);
  EXPECT_EQ(blocks.EndOf(0), BlockEnd::kFreed);
  EXPECT_EQ(blocks.EndOf(1), BlockEnd::kUnseen);
  EXPECT_EQ(blocks.EndOf(2), BlockEnd::kAlive);
  EXPECT_TRUE(blocks.IsFree(3));
  EXPECT_TRUE(blocks.IsAllocation(4));
}

TEST(MemoryBlocksTest, TheFreeOfZeroBytesIsTheLaterOne) {
  const model::Trace trace =
      TraceOf({{.time_ns = 1, .address = 16, .bytes = 0, .partner = 1},
               {.time_ns = 1, .address = 16, .bytes = 0, .partner = 0},
               {.time_ns = 2, .address = 16, .bytes = 0}});
  const MemoryBlocks blocks(trace);
  EXPECT_TRUE(blocks.IsAllocation(0));
  EXPECT_EQ(blocks.EndOf(0), BlockEnd::kFreed);
  EXPECT_TRUE(blocks.IsFree(1));
  EXPECT_TRUE(blocks.IsAllocation(2));
}

TEST(MemoryBlocksTest, AFailedAllocationIsNeither) {
  const model::Trace trace =
      TraceOf({{.event = model::MemoryEvent::kOutOfMemory, .bytes = 8}});
  const MemoryBlocks blocks(trace);
  EXPECT_FALSE(blocks.IsAllocation(0));
  EXPECT_FALSE(blocks.IsFree(0));
}

TEST(MemoryBlocksTest, ABlockIsAliveFromItsRecordUntilItsPartners) {
  const model::Trace trace =
      TraceOf({{.time_ns = 10, .address = 16, .bytes = 8, .partner = 2},
               {.time_ns = 20, .bytes = 8},
               {.time_ns = 30, .address = 16, .bytes = -8, .partner = 0}});
  const MemoryBlocks blocks(trace);
  EXPECT_FALSE(blocks.IsAliveAfter(0, {9, 0}));
  EXPECT_TRUE(blocks.IsAliveAfter(0, blocks.MomentOf(0)));
  EXPECT_TRUE(blocks.IsAliveAfter(0, blocks.MomentOf(1)));
  EXPECT_FALSE(blocks.IsAliveAfter(0, blocks.MomentOf(2)));
  EXPECT_FALSE(blocks.IsAliveAfter(1, blocks.MomentOf(2)));  // no address
}

TEST(MemoryBlocksTest, OnlySamplesOfTheHeapStandForMore) {
  const model::Trace trace =
      TraceOf({{.source = MemorySource::kHeap, .bytes = -100},
               {.source = MemorySource::kMapped, .bytes = -100}},
              /*interval=*/100);
  const MemoryBlocks blocks(trace);
  const double weight = model::MemorySampleWeight(100, 100);  // 1.58
  const MemoryAmount sample = blocks.AmountOf(0);
  EXPECT_EQ(sample.bytes, std::llround(100 * weight));
  EXPECT_EQ(sample.units, std::llround(MemoryAmount::kOne * weight));
  EXPECT_EQ(sample.count(), 2);
  EXPECT_EQ(blocks.AmountOf(1).bytes, 100);
  EXPECT_EQ(blocks.AmountOf(1).count(), 1);
}

TEST(MemoryGroupsTest, AreSortedByBytesThenCountThenId) {
  const auto stack = [](uint32_t id) { return model::StackId{id}; };
  const auto blocks = [](int64_t count, int64_t bytes) {
    return MemoryAmount{count * MemoryAmount::kOne, bytes};
  };
  StackMemorySums sums;
  sums.Add(stack(4), blocks(1, 10));
  sums.Add(stack(3), blocks(1, 10));
  sums.Add(stack(2), blocks(2, 10));
  StackMemorySums more;
  more.Add(stack(1), blocks(1, 7));
  more.Add(stack(1), blocks(2, 7));
  sums.Merge(more);
  EXPECT_EQ(sums.LargestFirst(), (std::vector<StackMemory>{{stack(1), 3, 14},
                                                           {stack(2), 2, 10},
                                                           {stack(3), 1, 10},
                                                           {stack(4), 1, 10}}));
}

}  // namespace
}  // namespace kymo::analysis
