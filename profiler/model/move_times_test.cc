#include "profiler/model/move_times.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "profiler/model/folded_memory.h"
#include "profiler/model/thread_states.h"

namespace kymo::model {
namespace {

constexpr TimeMap kLater = {.from_ns = 100, .to_ns = 1'100};

TEST(MoveTimesTest, ALineMayDrift) {
  const TimeMap map = {.from_ns = 1'000, .to_ns = 5'000, .drift = 0.5};
  EXPECT_EQ(map(1'000), 5'000);
  EXPECT_EQ(map(1'100), 5'150);
  EXPECT_EQ(map(900), 4'850);
}

TEST(MoveTimesTest, EachTimeOfAShardMoves) {
  TraceShard shard;
  shard.processes.push_back({.pid = 1, .start_ns = 101, .end_ns = 0});
  TrackEvents& events = shard.events.emplace_back();
  events.start_ns.push_back(102);
  events.end_ns.push_back(0);  // open: stays so
  shard.block.start_ns.push_back(103);
  shard.block.end_ns.push_back(104);
  shard.counters.push_back({.time_ns = 105});
  shard.memory.push_back({.time_ns = 106});
  shard.samples.push_back({.time_ns = 107, .weight_ns = 9});
  MoveTimes(shard, kLater);
  EXPECT_EQ(shard.processes[0].start_ns, 1'101);
  EXPECT_EQ(shard.processes[0].end_ns, 0);
  EXPECT_EQ(shard.events[0].start_ns[0], 1'102);
  EXPECT_EQ(shard.events[0].end_ns[0], 0);
  EXPECT_EQ(shard.block.start_ns[0], 1'103);
  EXPECT_EQ(shard.block.end_ns[0], 1'104);
  EXPECT_EQ(shard.counters[0].time_ns, 1'105);
  EXPECT_EQ(shard.memory[0].time_ns, 1'106);
  EXPECT_EQ(shard.samples[0].time_ns, 1'107);
  EXPECT_EQ(shard.samples[0].weight_ns, 9);
}

TEST(MoveTimesTest, WaitsMoveAndOtherShardsKeepTheirs) {
  auto states = std::make_shared<ThreadStates>();
  states->threads.push_back({.wall_ns = 50, .begin_ns = 110, .end_ns = 160});
  states->waits.push_back({.begin_ns = 120, .duration_ns = 7});
  TraceShard shard;
  shard.thread_states = states;
  MoveTimes(shard, kLater);
  EXPECT_EQ(shard.thread_states->threads[0].begin_ns, 1'110);
  EXPECT_EQ(shard.thread_states->threads[0].end_ns, 1'160);
  EXPECT_EQ(shard.thread_states->threads[0].wall_ns, 50);
  EXPECT_EQ(shard.thread_states->waits[0].begin_ns, 1'120);
  EXPECT_EQ(shard.thread_states->waits[0].duration_ns, 7);
  EXPECT_EQ(states->waits[0].begin_ns, 120);
}

TEST(MoveTimesTest, SumsOfTheHeapMove) {
  FoldedChanges changes;
  changes.Add({.time_ns = 130, .bytes = 8});
  changes.Add({.time_ns = 140, .bytes = 16});
  auto memory = std::make_shared<FoldedMemory>();
  memory->heaps.push_back({.first_ns = 130,
                           .peak_ns = 140,
                           .live = {{.time_ns = 130, .bytes = 8}},
                           .threads = {{.changes = changes}},
                           .peak_blocks = {{.time_ns = 140, .bytes = 16}}});
  memory->live.push_back({.time_ns = 150, .bytes = 24});
  TraceShard shard;
  shard.folded_memory = memory;
  MoveTimes(shard, kLater);
  const FoldedHeap& heap = shard.folded_memory->heaps[0];
  EXPECT_EQ(heap.first_ns, 1'130);
  EXPECT_EQ(heap.peak_ns, 1'140);
  EXPECT_EQ(heap.live[0].time_ns, 1'130);
  EXPECT_EQ(heap.peak_blocks[0].time_ns, 1'140);
  EXPECT_EQ(shard.folded_memory->live[0].time_ns, 1'150);
  std::vector<TimeNs> times;
  heap.threads[0].changes.ForEach(
      [&](const FoldedChange& change) { times.push_back(change.time_ns); });
  EXPECT_EQ(times, (std::vector<TimeNs>{1'130, 1'140}));
}

}  // namespace
}  // namespace kymo::model
