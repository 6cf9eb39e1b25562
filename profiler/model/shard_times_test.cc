// Also what the records of shards and traces say where nothing is known.
#include "profiler/model/shard_times.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/model/folded_memory.h"
#include "profiler/model/trace.h"

namespace kymo::model {
namespace {

TEST(ShardTimesTest, AShardWithoutTimesHasNone) {
  EXPECT_FALSE(TimesOf(TraceShard()).has_value());
}

TEST(ShardTimesTest, EventsCountersAndMemoryCount) {
  TraceShard shard;
  shard.block.start_ns.push_back(500);
  shard.block.end_ns.push_back(0);
  EXPECT_EQ(TimesOf(shard)->first_ns, 500);
  EXPECT_EQ(TimesOf(shard)->last_ns, 500) << "it is open";
  shard.counters.push_back({.time_ns = 300});
  EXPECT_EQ(TimesOf(shard)->first_ns, 300);
  shard.memory.push_back({.time_ns = 900});
  EXPECT_EQ(TimesOf(shard)->last_ns, 900);
  TrackEvents& events = shard.events.emplace_back();
  events.start_ns.push_back(100);
  events.end_ns.push_back(1'000);
  EXPECT_EQ(TimesOf(shard)->first_ns, 100);
  EXPECT_EQ(TimesOf(shard)->last_ns, 1'000);
}

TEST(ShardTimesTest, CountsWhatIsOutsideOfAWindow) {
  TraceShard shard;
  for (const TimeNs t : {99, 100, 200, 201}) {
    shard.block.start_ns.push_back(t);
    // An end may be later: the range was open at the end of the window.
    shard.block.end_ns.push_back(1'000);
    shard.events.emplace_back().start_ns.push_back(t);
    shard.counters.push_back({.time_ns = t});
    shard.memory.push_back({.time_ns = t});
    shard.samples.push_back({.time_ns = t});
  }
  EXPECT_EQ(RecordsOutside(shard, 100, 200), 5 * 2);
  EXPECT_EQ(RecordsOutside(shard, 99, 201), 0);
  EXPECT_EQ(RecordsOutside(TraceShard(), 100, 200), 0);
}

TEST(RecordsTest, ProcessesAndTracksAreNotKnown) {
  const Process process;
  EXPECT_EQ(process.pid, 0);
  EXPECT_EQ(process.parent_pid, 0);
  EXPECT_EQ(process.name, NameId{0});
  EXPECT_EQ(process.command_line, NameId{0});
  EXPECT_EQ(process.start_ns, 0);
  EXPECT_EQ(process.end_ns, 0);
  const Track track;
  EXPECT_EQ(track.kind, TrackKind::kThread);
  EXPECT_EQ(track.pid, 0);
  EXPECT_EQ(track.id, 0);
  EXPECT_EQ(track.device_index, -1);
  EXPECT_EQ(track.name, NameId{0});
  EXPECT_EQ(track.logical_id, 0u);
  EXPECT_EQ(kSyncRows, 1'000'000);
  EXPECT_EQ(TrackEvents().track, 0u);
  EXPECT_EQ(EventBlock::Part().track, 0u);
  EXPECT_EQ(EventBlock::Part().end, 0u);
}

TEST(RecordsTest, SamplesAndMemoryAreNothing) {
  const CounterSample counter;
  EXPECT_EQ(counter.track, 0u);
  EXPECT_EQ(counter.time_ns, 0);
  EXPECT_EQ(counter.value, 0);
  const StackSample sample;
  EXPECT_EQ(sample.track, 0u);
  EXPECT_EQ(sample.stack, StackId{0});
  EXPECT_EQ(sample.time_ns, 0);
  EXPECT_EQ(sample.weight_ns, 0);
  const MemoryRecord record;
  EXPECT_EQ(record.track, 0u);
  EXPECT_EQ(record.event, MemoryEvent::kAllocation);
  EXPECT_EQ(record.source, MemorySource::kReported);
  EXPECT_EQ(record.device_type, 0);  // the CPU
  EXPECT_EQ(record.device_index, -1);
  EXPECT_EQ(record.time_ns, 0);
  EXPECT_EQ(record.address, 0u);
  EXPECT_EQ(record.bytes, 0);
  EXPECT_EQ(record.total_allocated, 0);
  EXPECT_EQ(record.total_reserved, 0);
  EXPECT_EQ(record.stack, StackId{0});
  EXPECT_EQ(record.partner, ~uint32_t{0});
  const AllocationCounts counts;
  EXPECT_EQ(counts.track, 0u);
  EXPECT_EQ(counts.allocations, 0u);
  EXPECT_EQ(counts.frees, 0u);
  EXPECT_EQ(counts.allocated_bytes, 0u);
}

TEST(RecordsTest, FramesAreResolvedFunctionsOfPrograms) {
  const Frame frame;
  EXPECT_EQ(frame.function, NameId{0});
  EXPECT_EQ(frame.line, 0u);
  EXPECT_EQ(frame.address, 0u);
  EXPECT_FALSE(frame.is_inlined);
  EXPECT_FALSE(frame.is_kernel);
  EXPECT_TRUE(frame.is_resolved);
}

// 1 / (1 - exp(-bytes / interval)), for frees as for allocations.
TEST(RecordsTest, ASampleStandsForTheAllocationsOfItsSize) {
  EXPECT_NEAR(MemorySampleWeight(1, 1), 1.5819767, 1e-7);
  EXPECT_NEAR(MemorySampleWeight(-1, 1), 1.5819767, 1e-7);
  EXPECT_NEAR(MemorySampleWeight(512, 1024), 2.5414941, 1e-7);
  EXPECT_NEAR(MemorySampleWeight(1 << 20, 1024), 1, 1e-7);
  EXPECT_EQ(MemorySampleWeight(512, 0), 1);
  EXPECT_EQ(MemorySampleWeight(512, -1), 1);
  EXPECT_EQ(MemorySampleWeight(0, 1024), 1);
  EXPECT_GT(MemorySampleWeight(1, 0.5), 1);
}

TEST(RecordsTest, ShardsAndTracesAreEmpty) {
  const TraceShard shard;
  EXPECT_EQ(shard.memory_sample_interval, 0);
  EXPECT_EQ(shard.sampling_period_ns, 0);
  const TraceData data;
  EXPECT_EQ(data.start_ns, 0);
  EXPECT_EQ(data.end_ns, 0);
  EXPECT_EQ(data.track_begin, std::vector<EventIndex>{0});
  EXPECT_EQ(data.memory_sample_interval, 0);
  EXPECT_EQ(data.sampling_period_ns, 0);
}

TEST(RecordsTest, TheEventsOfATrackEndWhereTheNextBegin) {
  TraceData data;
  data.track_begin = {0, 2, 2, 5};
  const Trace trace(std::move(data));
  EXPECT_EQ(trace.track_begin(0), 0u);
  EXPECT_EQ(trace.track_end(0), 2u);
  EXPECT_EQ(trace.track_begin(1), 2u);
  EXPECT_EQ(trace.track_end(1), 2u);
  EXPECT_EQ(trace.track_begin(2), 2u);
  EXPECT_EQ(trace.track_end(2), 5u);
}

TEST(RecordsTest, FoldedHeapsBeginAtNothing) {
  BlockSum sum = {.count = 1, .bytes = 10};
  sum += {.count = 2, .bytes = 5};
  EXPECT_EQ(sum, (BlockSum{.count = 3, .bytes = 15}));
  EXPECT_EQ(BlockSum(), (BlockSum{.count = 0, .bytes = 0}));
  EXPECT_EQ(FoldedPoint(), (FoldedPoint{.time_ns = 0, .bytes = 0}));
  EXPECT_EQ(FoldedStack().track, 0u);
  const FoldedHeap heap;
  EXPECT_EQ(heap.track, 0u);
  EXPECT_EQ(heap.first_ns, 0);
  EXPECT_EQ(heap.peak_bytes, 0);
  EXPECT_EQ(heap.peak_ns, 0);
  EXPECT_EQ(heap.sizes, (std::array<int64_t, 64>{}));
  EXPECT_EQ(heap.lifetimes, (std::array<int64_t, 64>{}));
  EXPECT_EQ(heap.record_count(), 0);
  EXPECT_EQ((FoldedHeap{.allocated = {.count = 3}, .freed = {.count = 2}})
                .record_count(),
            5);
  EXPECT_EQ(FoldedMemory().live_moments, 0);
}

}  // namespace
}  // namespace kymo::model
