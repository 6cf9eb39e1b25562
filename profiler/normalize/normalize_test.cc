#include "profiler/normalize/normalize.h"

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/base/parallel.h"
#include "profiler/model/folded_memory.h"
#include "profiler/normalize/test_normalize.h"
#include "tests/support/test_shard.h"

namespace kymo {
namespace {

using model::EventIndex;
using model::Loss;
using model::Trace;
using model::TraceShard;
using model::TrackIndex;

TEST(NormalizeTest, NestsByTimeWhereDepthIsUnknown) {
  TestShard builder;
  const TrackIndex t = builder.AddThread(1, 1, "main");
  builder.AddRange(t, "A", 10, 20);
  builder.AddRange(t, "B", 11, 13);
  builder.AddRange(t, "C", 13, 14);
  builder.AddInstant(t, "I", 13);
  builder.AddRange(t, "D", 20, 25);
  EXPECT_EQ(Tree(Build(std::move(builder))), "A B<A C<A I<C D");
}

TEST(NormalizeTest, DepthDecidesWhereTheClockDidNotAdvance) {
  TestShard builder;
  const TrackIndex t = builder.AddThread(1, 1, "main");
  builder.AddRange(t, "A", 10, 10);
  builder.AddRange(t, "B", 10, 10);
  builder.AddRange(t, "C", 10, 10);
  builder.shard().events[0].depth = {0, 0, 1};
  EXPECT_EQ(Tree(Build(std::move(builder))), "A B C<B");
}

TEST(NormalizeTest, JoinsShardsOnOneThread) {
  TestShard ranges;
  ranges.AddProcess(7, "prog");
  const TrackIndex t = ranges.AddThread(7, 8, "");
  ranges.AddRange(t, "outer", 100, 200);
  ranges.AddRange(t, "late", 250, 300);
  TestShard others;
  const TrackIndex u = others.AddThread(7, 8, "worker");
  others.AddThread(7, 9, "second");
  others.AddRange(u, "from elsewhere", 120, 150,
                  model::ActivityType::kNvtxRange);
  others.AddSample(u, 130, 10, {"main", "work"});
  std::vector<TraceShard> shards;
  shards.push_back(std::move(ranges).Build());
  shards.push_back(std::move(others).Build());
  const Trace trace = Build(std::move(shards));
  EXPECT_EQ(Tree(trace), "outer from elsewhere<outer late");
  ASSERT_EQ(trace.tracks().size(), 2);
  EXPECT_EQ(trace.Name(trace.tracks()[0].name), "worker");
  ASSERT_EQ(trace.samples().size(), 1);
  EXPECT_EQ(trace.samples()[0].track, 0);
  const auto frames = trace.stacks().Frames(trace.samples()[0].stack);
  ASSERT_EQ(frames.size(), 2);
  EXPECT_EQ(trace.Name(trace.stacks().frame(frames[1]).function), "work");
}

TEST(NormalizeTest, PartialOverlapGoesToALaneAndIsCounted) {
  TestShard builder;
  const TrackIndex t = builder.AddThread(1, 1, "main");
  builder.AddRange(t, "A", 10, 20);
  builder.AddRange(t, "B", 15, 25);
  builder.AddRange(t, "C", 16, 19);
  builder.AddRange(t, "D", 18, 30);
  const Trace trace = Build(std::move(builder));
  EXPECT_EQ(Tree(trace), "A C<A B D");
  EXPECT_EQ(trace.tracks().size(), 3);
  EXPECT_EQ(trace.ledger().Get(Loss::kRangesOverlapping), 2);
}

TEST(NormalizeTest, OnADevicesStreamRangesMayOverlap) {
  TestShard builder;
  const TrackIndex t = builder.AddThread(1, 7, "stream");
  builder.shard().tracks[t].kind = model::TrackKind::kStream;
  builder.AddRange(t, "A", 10, 20);
  builder.AddRange(t, "B", 15, 25);
  const Trace trace = Build(std::move(builder));
  EXPECT_EQ(trace.tracks().size(), 2);
  EXPECT_EQ(trace.ledger().Get(Loss::kRangesOverlapping), 0);
}

TEST(NormalizeTest, AsynchronousRangesNeverShareTimeInALane) {
  TestShard builder;
  const TrackIndex t = builder.AddThread(1, 1, "main");
  constexpr int kRequests = 20'000;
  for (int i = 0; i < kRequests; ++i) {
    builder.AddRange(t, "request", 10 * i, 10 * i + 1000);
    builder.shard().events[0].flags.back() = model::kEventAsync;
    builder.shard().events[0].depth.push_back(1);
  }
  // 100 ranges are open at any time, so there are 100 lanes. Finding them must
  // take much less than quadratic time.
  const Trace trace =
      Build(std::move(builder), {.start_ns = 0, .end_ns = 1'000'000});
  EXPECT_EQ(trace.event_count(), kRequests);
  EXPECT_EQ(trace.tracks().size(), 1 + 100);
  EXPECT_FALSE(trace.ledger().AnythingLost());
}

TEST(NormalizeTest, StaircaseOfOverlapsIsNotQuadratic) {
  TestShard builder;
  const TrackIndex t = builder.AddThread(1, 1, "main");
  constexpr int kRanges = 50'000;
  for (int i = 0; i < kRanges; ++i) {
    builder.AddRange(t, "step", 1 + i, i + 10'000'000);
  }
  const Trace trace = Build(std::move(builder));
  EXPECT_EQ(trace.event_count(), kRanges);
  EXPECT_EQ(trace.ledger().Get(Loss::kRangesOverlapping), kRanges - 1);
}

TEST(NormalizeTest, RunningRangeIsNotOverBecauseOfADepth) {
  TestShard builder;
  const TrackIndex t = builder.AddThread(1, 1, "main");
  builder.AddRange(t, "A", 10, 20);
  builder.AddRange(t, "B", 12, 40);
  builder.AddRange(t, "C", 22, 35);
  builder.AddRange(t, "X", 24, 45);
  builder.shard().events[0].depth = {0, 1, 0, 1};
  // Build validates that siblings do not overlap.
  EXPECT_EQ(Build(std::move(builder)).event_count(), 4);
}

TEST(NormalizeTest, RangeWhoseEndWasLostEndsWhereTheNextBegins) {
  TestShard builder;
  const TrackIndex t = builder.AddThread(1, 1, "main");
  builder.AddRange(t, "lost end", 10, 0);
  builder.AddRange(t, "inside", 12, 14);
  builder.AddRange(t, "next", 30, 40);
  builder.shard().events[0].depth = {0, 1, 0};
  const Trace trace = Build(std::move(builder), {.start_ns = 1, .end_ns = 99});
  EXPECT_EQ(Tree(trace), "lost end inside<lost end next");
  EXPECT_EQ(trace.end()[0], 30);
  EXPECT_EQ(trace.flags()[0], model::kEventOpen);
}

TEST(NormalizeTest, OpenRangesEndWithTheirParentOrTheWindow) {
  TestShard builder;
  const TrackIndex t = builder.AddThread(1, 1, "main");
  builder.AddRange(t, "closed", 10, 20);
  builder.AddRange(t, "open inside", 12, 0);
  builder.AddRange(t, "open", 30, 0);
  builder.AddRange(t, "below", 40, 50);
  const Trace trace = Build(std::move(builder), {.start_ns = 5, .end_ns = 100});
  EXPECT_EQ(Tree(trace), "closed open inside<closed open below<open");
  EXPECT_EQ(trace.end()[1], 20);
  EXPECT_EQ(trace.end()[2], 100);
  EXPECT_EQ(trace.flags()[1], model::kEventOpen);
  EXPECT_EQ(trace.ledger().Get(Loss::kRangesOpenAtEnd), 2);
  EXPECT_FALSE(trace.ledger().AnythingLost());
}

TEST(NormalizeTest, OpenRangesEndWithTheirProcess) {
  TestShard builder;
  builder.shard().processes.push_back({.pid = 1, .end_ns = 60});
  const TrackIndex t = builder.AddThread(1, 1, "main");
  builder.AddRange(t, "open", 30, 0);
  builder.AddRange(t, "below", 40, 50);
  const Trace trace =
      Build(std::move(builder), {.start_ns = 5, .end_ns = 1000});
  EXPECT_EQ(trace.end()[0], 60);
}

TEST(NormalizeTest, OutOfWindowAndImpossibleTimesAreCounted) {
  TestShard builder;
  const TrackIndex t = builder.AddThread(1, 1, "main");
  builder.AddRange(t, "before", 10, 20);
  builder.AddRange(t, "inside", 110, 120);
  builder.AddRange(t, "backwards", 130, 125);
  builder.AddRange(t, "after", 300, 310);
  const Trace trace =
      Build(std::move(builder), {.start_ns = 100, .end_ns = 200});
  EXPECT_EQ(Tree(trace), "inside backwards");
  EXPECT_EQ(trace.end()[1], 130);
  EXPECT_EQ(trace.ledger().Get(Loss::kEventsOutOfWindow), 2);
  EXPECT_EQ(trace.ledger().Get(Loss::kImpossibleTimestamps), 1);
}

TEST(NormalizeTest, TheWindowIncludesItsStartAndItsEnd) {
  TestShard builder;
  const TrackIndex t = builder.AddThread(1, 1, "main");
  for (const TimeNs time : {99, 100, 200, 201}) {
    builder.AddInstant(t, std::to_string(time), time);
    builder.AddSample(t, time, 1, {"main"});
    builder.shard().counters.push_back(
        {.track = t, .name = builder.Intern("counter"), .time_ns = time});
    builder.shard().memory.push_back({.track = t, .time_ns = time});
  }
  const Trace trace =
      Build(std::move(builder), {.start_ns = 100, .end_ns = 200});
  EXPECT_EQ(Tree(trace), "100 200");
  ASSERT_EQ(trace.samples().size(), 2u);
  EXPECT_EQ(trace.samples()[0].time_ns, 100);
  EXPECT_EQ(trace.samples()[1].time_ns, 200);
  ASSERT_EQ(trace.counters().size(), 2u);
  EXPECT_EQ(trace.counters()[0].time_ns, 100);
  EXPECT_EQ(trace.counters()[1].time_ns, 200);
  ASSERT_EQ(trace.memory().size(), 2u);
  EXPECT_EQ(trace.memory()[0].time_ns, 100);
  EXPECT_EQ(trace.memory()[1].time_ns, 200);
  EXPECT_EQ(trace.ledger().Get(Loss::kEventsOutOfWindow), 8);
}

TEST(NormalizeTest, EventsOutOfOrderAreSorted) {
  TestShard builder;
  const TrackIndex t = builder.AddThread(1, 1, "main");
  builder.AddRange(t, "interrupted", 20, 40);
  builder.AddRange(t, "handler", 10, 15);
  EXPECT_EQ(Tree(Build(std::move(builder))), "handler interrupted");
}

TEST(NormalizeTest, ArgumentsAndNamesSurviveTheMerge) {
  std::vector<TraceShard> shards;
  for (int i = 0; i < 2; ++i) {
    TestShard builder;
    builder.Intern("padding " + std::to_string(i));
    const TrackIndex t = builder.AddThread(1, i + 1, "t");
    builder.AddRange(
        t, "op", 10, 20, model::ActivityType::kCpuOp,
        {model::Arg::Int(builder.Intern("i"), i),
         model::Arg::String(builder.Intern("s"),
                            builder.Intern("text " + std::to_string(i)))});
    shards.push_back(std::move(builder).Build());
  }
  const Trace trace = Build(std::move(shards));
  for (EventIndex i = 0; i < 2; ++i) {
    const auto args = trace.args(i);
    ASSERT_EQ(args.size(), 2);
    EXPECT_EQ(args[0].int_value(), i);
    EXPECT_EQ(trace.Name(args[1].string_value()), "text " + std::to_string(i));
  }
}

TEST(NormalizeTest, FoldedHeapsOfTwoShardsAreBothThere) {
  std::vector<TraceShard> shards;
  for (const int64_t pid : {9, 7}) {
    TestShard builder;
    const TrackIndex t = builder.AddThread(pid, pid, "main");
    auto folded = std::make_shared<model::FoldedMemory>();
    folded->heaps.push_back({.track = t, .allocated = {1, pid}});
    folded->live = {{10 + pid, pid}, {30, 0}};
    folded->live_moments = 2;
    builder.shard().folded_memory = std::move(folded);
    shards.push_back(std::move(builder).Build());
  }
  const Trace trace = Build(std::move(shards));
  const model::FoldedMemory* const folded = trace.folded_memory();
  ASSERT_NE(folded, nullptr);
  ASSERT_EQ(folded->heaps.size(), 2u);
  EXPECT_EQ(folded->heaps[0].allocated.bytes, 7);
  EXPECT_EQ(folded->heaps[1].allocated.bytes, 9);
  EXPECT_EQ(folded->live, (std::vector<model::FoldedPoint>{
                              {17, 7}, {19, 16}, {30, 7}, {30, 0}}));
  EXPECT_EQ(folded->live_moments, 4);
}

// Streams of one thread are tracks of a shard, and one track of the trace.
TEST(NormalizeTest, FoldedStacksOfOneTrackBecomeOne) {
  TestShard builder;
  const TrackIndex a = builder.AddThread(7, 71, "worker");
  const TrackIndex b = builder.AddThread(7, 7, "main");
  const TrackIndex c = builder.AddThread(7, 71, "worker");
  auto folded = std::make_shared<model::FoldedMemory>();
  model::FoldedHeap& heap = folded->heaps.emplace_back();
  heap.track = a;
  for (const TrackIndex track : {a, b, c}) {
    heap.stacks.push_back({.track = track,
                           .allocated = {1, 10 + track},
                           .temporary = {2, 20 + track},
                           .alive = {3, 30 + track},
                           .at_peak = {4, 40 + track}});
  }
  builder.shard().folded_memory = std::move(folded);
  const Trace trace = Build(std::move(builder));
  const model::FoldedHeap& in_trace = trace.folded_memory()->heaps[0];
  EXPECT_EQ(in_trace.track, 1u);
  ASSERT_EQ(in_trace.stacks.size(), 2u);
  EXPECT_EQ(in_trace.stacks[0].track, 0u);
  EXPECT_EQ(in_trace.stacks[0].allocated, (model::BlockSum{1, 11}));
  EXPECT_EQ(in_trace.stacks[1].track, 1u);
  EXPECT_EQ(in_trace.stacks[1].allocated, (model::BlockSum{2, 22}));
  EXPECT_EQ(in_trace.stacks[1].temporary, (model::BlockSum{4, 42}));
  EXPECT_EQ(in_trace.stacks[1].alive, (model::BlockSum{6, 62}));
  EXPECT_EQ(in_trace.stacks[1].at_peak, (model::BlockSum{8, 82}));
}

TEST(NormalizeTest, FoldedThreadsOfOneTrackBecomeOne) {
  using Kind = model::FoldedChangeKind;
  TestShard builder;
  const TrackIndex a = builder.AddThread(7, 71, "worker");
  const TrackIndex b = builder.AddThread(7, 7, "main");
  const TrackIndex c = builder.AddThread(7, 71, "worker");
  auto folded = std::make_shared<model::FoldedMemory>();
  model::FoldedHeap& heap = folded->heaps.emplace_back();
  heap.track = a;
  for (const TrackIndex track : {a, b, c}) {
    heap.stacks.push_back({.track = track, .allocated = {1, 10 + track}});
    heap.peak_blocks.push_back({track, 100 - track, 5});
  }
  heap.threads.resize(3);
  heap.threads[0].track = a;
  heap.threads[0].changes.Add({10, 1, Kind::kAllocation});
  heap.threads[0].changes.Add({30, -3, Kind::kFree});
  heap.threads[1].track = b;
  heap.threads[2].track = c;
  heap.threads[2].changes.Add({20, 2, Kind::kAllocation});
  builder.shard().folded_memory = std::move(folded);
  const Trace trace = Build(std::move(builder));
  const model::FoldedHeap& in_trace = trace.folded_memory()->heaps[0];
  EXPECT_EQ(in_trace.track, 1u);
  ASSERT_EQ(in_trace.stacks.size(), 2u);
  EXPECT_EQ(in_trace.stacks[0].allocated, (model::BlockSum{1, 11}));
  EXPECT_EQ(in_trace.stacks[1].allocated, (model::BlockSum{2, 22}));
  EXPECT_EQ(in_trace.peak_blocks, (std::vector<model::FoldedBlock>{
                                      {0, 99, 5}, {1, 98, 5}, {1, 100, 5}}));
  ASSERT_EQ(in_trace.threads.size(), 2u);
  EXPECT_EQ(in_trace.threads[1].track, 1u);
  std::vector<model::FoldedChange> changes;
  in_trace.threads[1].changes.ForEach(
      [&](const model::FoldedChange& change) { changes.push_back(change); });
  EXPECT_EQ(changes,
            (std::vector<model::FoldedChange>{{10, 1, Kind::kAllocation},
                                              {20, 2, Kind::kAllocation},
                                              {30, -3, Kind::kFree}}));
}

TEST(NormalizeTest, NothingGivesAnEmptyTrace) {
  const Trace trace = Build(std::vector<TraceShard>());
  EXPECT_EQ(trace.event_count(), 0);
  EXPECT_EQ(trace.end_ns(), 0);
}

// Random ranges, nested, overlapping, open and instant, on several threads.
std::vector<TraceShard> RandomShards(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<TraceShard> shards;
  for (int s = 0; s < 2; ++s) {
    TestShard builder;
    for (int thread = 0; thread < 3; ++thread) {
      const TrackIndex t = builder.AddThread(1, thread, "t");
      TimeNs now = 1000;
      for (int i = 0; i < 200; ++i) {
        now += random() % 5;
        const uint32_t kind = random() % 20;
        const std::string name = "n" + std::to_string(random() % 10);
        if (kind == 0) {
          builder.AddInstant(t, name, now);
        } else {
          builder.AddRange(t, name, now, kind == 1 ? 0 : now + random() % 100);
        }
      }
    }
    shards.push_back(std::move(builder).Build());
  }
  return shards;
}

TEST(NormalizeTest, AnyInputGivesAValidTraceWhateverTheThreads) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const Trace many = Build(RandomShards(seed));
    ParallelismLimit limit(1);
    const Trace one = Build(RandomShards(seed));
    EXPECT_EQ(Tree(one), Tree(many));
    EXPECT_EQ(many.event_count(), 2 * 3 * 200);
  }
}

TEST(NormalizeTest, AsynchronousAndOverlappingRangesNeverShareALane) {
  TestShard builder;
  const TrackIndex t = builder.AddThread(1, 1, "main");
  builder.AddRange(t, "async", 1, 2);
  builder.shard().events[0].flags.back() = model::kEventAsync;
  // More than there are lanes that nest.
  for (int i = 0; i < 30; ++i) builder.AddRange(t, "step", 10 + i, 100 + i);
  // Build validates that what shares a lane does not overlap.
  EXPECT_EQ(Build(std::move(builder)).event_count(), 31u);
}

}  // namespace
}  // namespace kymo
