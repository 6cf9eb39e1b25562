#include "profiler/normalize/merge_thread_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "profiler/model/thread_states.h"
#include "profiler/normalize/test_normalize.h"
#include "tests/support/test_shard.h"

namespace kymo {
namespace {

using model::Trace;
using model::TraceShard;
using model::TrackIndex;
using model::Wait;
using model::WaitSum;
using ::testing::ElementsAre;

// Threads 1:8 (twice: it ended, and another one got its number) and 1:7.
TEST(MergeThreadStatesTest, ThreadTimesStandByTrackAndLivesAddUp) {
  std::vector<TraceShard> shards;
  for (const uint32_t cpus : {2, 1}) {
    TestShard shard;
    const TrackIndex a = shard.AddThread(1, 8, "a");
    const TrackIndex b = shard.AddThread(1, 7, "b");
    auto states = std::make_shared<model::ThreadStates>();
    states->cpu_count = cpus;
    states->kymo_cpu_ns = 10 * cpus;
    states->threads = {{.track = a,
                        .wall_ns = 100,
                        .on_cpu_ns = 10,
                        .runnable_ns = 5,
                        .unknown_ns = 3,
                        .open_wait_ns = 2,
                        .voluntary_switches = 4,
                        .involuntary_switches = 6,
                        .run_queue = model::RunQueueTime::kWhole,
                        .begin_ns = 300,
                        .end_ns = 400,
                        .creator = b}};
    if (cpus == 2) {
      states->threads.push_back({.track = b, .wall_ns = 50, .on_cpu_ns = 50});
      states->threads.push_back({.track = a,
                                 .wall_ns = 7,
                                 .on_cpu_ns = 7,
                                 .run_queue = model::RunQueueTime::kLastKnown,
                                 .begin_ns = 500,
                                 .end_ns = 507});
    }
    shard.shard().thread_states = std::move(states);
    shards.push_back(std::move(shard).Build());
  }
  const Trace trace = Build(std::move(shards));
  const model::ThreadStates& states = *trace.thread_states();
  EXPECT_EQ(states.cpu_count, 2u);
  EXPECT_EQ(states.kymo_cpu_ns, 20);
  const model::ThreadTimes b = {.track = 0, .wall_ns = 50, .on_cpu_ns = 50};
  const model::ThreadTimes a = {.track = 1,
                                .wall_ns = 207,
                                .on_cpu_ns = 27,
                                .runnable_ns = 10,
                                .unknown_ns = 6,
                                .open_wait_ns = 4,
                                .voluntary_switches = 8,
                                .involuntary_switches = 12,
                                .run_queue = model::RunQueueTime::kLastKnown,
                                .begin_ns = 300,
                                .end_ns = 507,
                                .creator = b.track};
  EXPECT_THAT(states.threads, ElementsAre(b, a));
}

TEST(MergeThreadStatesTest, TheLimitThatStoppedThreadsMostIsKept) {
  const model::CpuLimit most = {.quota_ns = 50,
                                .period_ns = 100,
                                .periods = 8,
                                .throttled_periods = 3,
                                .throttled_ns = 90};
  std::vector<TraceShard> shards;
  for (const model::CpuLimit& limit :
       {model::CpuLimit{.quota_ns = 500, .period_ns = 100, .periods = 9}, most,
        model::CpuLimit()}) {
    TestShard shard;
    auto states = std::make_shared<model::ThreadStates>();
    states->cpu_limit = limit;
    shard.shard().thread_states = std::move(states);
    shards.push_back(std::move(shard).Build());
  }
  const Trace trace = Build(std::move(shards));
  EXPECT_EQ(trace.thread_states()->cpu_limit, most);
}

Wait At(TrackIndex track, TimeNs begin_ns, DurationNs duration_ns) {
  return {.track = track, .begin_ns = begin_ns, .duration_ns = duration_ns};
}

Trace FromWaits(std::vector<std::vector<Wait>> of_shards,
                const NormalizeOptions& options) {
  std::vector<TraceShard> shards;
  for (std::vector<Wait>& waits : of_shards) {
    TestShard shard;
    shard.AddThread(1, 8, "a");
    shard.AddThread(1, 7, "b");
    auto states = std::make_shared<model::ThreadStates>();
    states->waits = std::move(waits);
    shard.shard().thread_states = std::move(states);
    shards.push_back(std::move(shard).Build());
  }
  return Build(std::move(shards), options);
}

// Thread 1:8 is track 0 of both shards and track 1 of the trace.
TEST(MergeThreadStatesTest, WaitsGetTheTracesIdsAndOrder) {
  std::vector<TraceShard> shards;
  for (const char* const name : {"x", "y"}) {
    TestShard shard;
    shard.Intern(name);
    const TrackIndex a = shard.AddThread(1, 8, "a");
    const TrackIndex b = shard.AddThread(1, 7, "b");
    const auto stack = shard.shard().stacks.Push(
        model::kEmptyStack,
        shard.shard().stacks.AddFrame({.function = shard.Intern(name)}));
    auto states = std::make_shared<model::ThreadStates>();
    states->min_wait_ns = *name;
    states->waits = {{.track = a,
                      .kind = model::WaitKind::kLock,
                      .begin_ns = *name == 'x' ? 50 : 20,
                      .duration_ns = 10,
                      .runnable_ns = 3,
                      .stack = stack,
                      .object = 9,
                      .object_name = shard.Intern(name),
                      .waker = b,
                      .waker_stack = stack,
                      .holder = a,
                      .holder_stack = stack}};
    shard.shard().thread_states = std::move(states);
    shards.push_back(std::move(shard).Build());
  }
  const Trace trace = Build(std::move(shards), {.start_ns = 1, .end_ns = 100});
  const model::ThreadStates& states = *trace.thread_states();
  EXPECT_EQ(states.min_wait_ns, 'y');
  ASSERT_EQ(states.waits.size(), 2u);
  for (const char* const name : {"y", "x"}) {
    const Wait& wait = states.waits[*name == 'x' ? 1 : 0];
    EXPECT_EQ(wait.track, 1u);
    EXPECT_EQ(wait.waker, 0u);
    EXPECT_EQ(wait.waker_stack, wait.stack);
    EXPECT_EQ(wait.holder, 1u);
    EXPECT_EQ(wait.holder_stack, wait.stack);
    EXPECT_EQ(wait.begin_ns, *name == 'x' ? 50 : 20);
    EXPECT_EQ(wait.runnable_ns, 3);
    EXPECT_EQ(wait.object, 9u);
    EXPECT_EQ(trace.Name(wait.object_name), name);
    const model::Frame& frame =
        trace.stacks().frame(trace.stacks().leaf(wait.stack));
    EXPECT_EQ(trace.Name(frame.function), name);
  }
}

TEST(MergeThreadStatesTest, WaitsAreCutToTheWindow) {
  Wait first = At(0, 5, 10);
  first.runnable_ns = 8;
  Wait last = At(0, 90, 30);
  last.is_open = true;
  const Trace trace = FromWaits({{At(0, 1, 8), first, last, At(1, 101, 5)}},
                                {.start_ns = 10, .end_ns = 100});
  Wait first_left = At(1, 10, 5);
  first_left.runnable_ns = 5;
  Wait last_left = At(1, 90, 10);
  last_left.is_open = true;
  EXPECT_THAT(trace.thread_states()->waits, ElementsAre(first_left, last_left));
  EXPECT_EQ(trace.ledger().Get(model::Loss::kEventsOutOfWindow), 2u);
}

TEST(MergeThreadStatesTest, TheSameWaitOfTwoShardsCountsOnce) {
  const Trace trace = FromWaits({{At(0, 20, 10)}, {At(0, 20, 10)}},
                                {.start_ns = 10, .end_ns = 100});
  EXPECT_THAT(trace.thread_states()->waits, ElementsAre(At(1, 20, 10)));
  EXPECT_FALSE(trace.ledger().AnythingLost());
}

TEST(MergeThreadStatesTest, AThreadWaitsOnlyOnceAtATime) {
  const Trace trace =
      FromWaits({{At(0, 20, 10), At(1, 20, 10)}, {At(0, 25, 10), At(0, 22, 8)}},
                {.start_ns = 10, .end_ns = 100});
  EXPECT_THAT(trace.thread_states()->waits,
              ElementsAre(At(0, 20, 10), At(1, 20, 10), At(1, 30, 5)));
  EXPECT_EQ(trace.ledger().Get(model::Loss::kRangesOverlapping), 1u);
}

TEST(MergeThreadStatesTest, WaitsAreTheWindowOfAShardThatStatesNone) {
  const Trace trace = FromWaits({{At(0, 20, 10), At(1, 5, 3)}}, {});
  EXPECT_EQ(trace.start_ns(), 5);
  EXPECT_EQ(trace.end_ns(), 30);
}

TEST(MergeThreadStatesTest, ShortWaitsAddUpByKindStackAndObject) {
  using model::WaitKind;
  const auto sum = [](uint64_t object, uint64_t count, DurationNs longest_ns) {
    return WaitSum{.kind = WaitKind::kLock,
                   .object = object,
                   .count = count,
                   .duration_ns = 10 * longest_ns,
                   .longest_ns = longest_ns};
  };
  std::vector<TraceShard> shards;
  for (const std::vector<WaitSum>& sums :
       {std::vector{sum(2, 4, 3), sum(1, 5, 2), sum(1, 6, 4)},
        std::vector{sum(1, 1, 1)}}) {
    TestShard shard;
    shard.AddThread(1, 8, "a");
    auto states = std::make_shared<model::ThreadStates>();
    states->short_waits = sums;
    shard.shard().thread_states = std::move(states);
    shards.push_back(std::move(shard).Build());
  }
  const Trace trace = Build(std::move(shards));
  WaitSum of_1 = sum(1, 12, 4);
  of_1.duration_ns = 70;
  EXPECT_THAT(trace.thread_states()->short_waits,
              ElementsAre(of_1, sum(2, 4, 3)));
}

TEST(MergeThreadStatesTest, OpenRangesEndWithTheirThread) {
  TestShard builder;
  builder.shard().processes.push_back({.pid = 1, .end_ns = 90});
  const TrackIndex ended = builder.AddThread(1, 1, "ended");
  const TrackIndex other = builder.AddThread(1, 2, "other");
  const TrackIndex late = builder.AddThread(1, 3, "late");
  const TrackIndex lives = builder.AddThread(1, 4, "lives");
  for (const TrackIndex track : {ended, other, late, lives}) {
    builder.AddRange(track, "open", 30, 0);
    builder.AddRange(track, "below", 40, 50);
  }
  auto states = std::make_shared<model::ThreadStates>();
  states->threads = {{.track = ended, .begin_ns = 20, .end_ns = 60},
                     {.track = late, .begin_ns = 20, .end_ns = 45},
                     {.track = lives, .begin_ns = 20, .end_ns = 1000}};
  builder.shard().thread_states = std::move(states);
  const Trace trace =
      Build(std::move(builder), {.start_ns = 5, .end_ns = 1000});
  // Whose end is not known ends with the process, and none before what happened
  // inside.
  EXPECT_EQ(Tree(trace),
            "open below<open open below<open open below<open open below<open");
  EXPECT_EQ(trace.end()[0], 60);
  EXPECT_EQ(trace.end()[2], 90);
  EXPECT_EQ(trace.end()[4], 50);
  EXPECT_EQ(trace.end()[6], 90);
}

// One backend knows what the program calls the thread, and the other does not.
TEST(MergeThreadStatesTest, TheNameOfTheProcessSaysLessThanAnother) {
  for (const bool is_last : {false, true}) {
    std::vector<TraceShard> shards;
    for (const bool knows : {!is_last, is_last}) {
      TestShard shard;
      shard.shard().processes.push_back(
          {.pid = 1, .name = shard.Intern("python3")});
      shard.AddThread(1, 1, "python3");
      shard.AddThread(1, 2, knows ? "worker-3" : "python3");
      shards.push_back(std::move(shard).Build());
    }
    const Trace trace = Build(std::move(shards));
    ASSERT_EQ(trace.tracks().size(), 2u);
    EXPECT_EQ(trace.Name(trace.tracks()[0].name), "python3");
    EXPECT_EQ(trace.Name(trace.tracks()[1].name), "worker-3") << is_last;
  }
}

TEST(MergeThreadStatesTest, WhatAnotherThreadMayEndEndsWithTheProcess) {
  TestShard builder;
  builder.shard().processes.push_back({.pid = 1, .end_ns = 90});
  const TrackIndex track = builder.AddThread(1, 1, "ended");
  builder.AddRange(track, "request", 30, 0);
  builder.shard().events[0].flags[0] |= model::kEventAsync;
  auto states = std::make_shared<model::ThreadStates>();
  states->threads = {{.track = track, .begin_ns = 20, .end_ns = 60}};
  builder.shard().thread_states = std::move(states);
  const Trace trace =
      Build(std::move(builder), {.start_ns = 5, .end_ns = 1000});
  EXPECT_EQ(trace.end()[0], 90);
}

// Importers tell processes of several files apart by their pids.
TEST(MergeThreadStatesTest, PartsOfARecordingHaveTheSameSums) {
  const auto part = [](const char* recording, int64_t pid) {
    TestShard builder;
    builder.shard().metadata = {
        {builder.Intern("kymo_recording"), builder.Intern(recording)}};
    const TrackIndex t = builder.AddThread(pid, 1, "main");
    builder.shard().allocation_counts = {{t, 3, 1, 8}};
    model::ThreadStates& states =
        *(builder.shard().thread_states =
              std::make_shared<model::ThreadStates>());
    states.threads = {{.track = t, .wall_ns = 90, .on_cpu_ns = 50}};
    states.waits = {{.track = t, .begin_ns = pid * 100, .duration_ns = 5}};
    states.short_waits = {{.track = t, .count = 2, .duration_ns = 4}};
    return std::move(builder).Build();
  };
  std::vector<TraceShard> shards;
  shards.push_back(part("\"1-9\"", 1));
  shards.push_back(part("\"1-9\"", 2));
  shards.push_back(part("\"2-9\"", 3));
  const Trace trace = Build(std::move(shards));
  const auto tracks_of = [](const auto& sums) {
    std::vector<TrackIndex> tracks;
    for (const auto& sum : sums) tracks.push_back(sum.track);
    return tracks;
  };
  const model::ThreadStates& states = *trace.thread_states();
  EXPECT_THAT(tracks_of(states.threads), ElementsAre(0, 2));
  EXPECT_THAT(tracks_of(states.short_waits), ElementsAre(0, 2));
  EXPECT_THAT(tracks_of(trace.allocation_counts()), ElementsAre(0, 2));
  EXPECT_THAT(tracks_of(states.waits), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace kymo
