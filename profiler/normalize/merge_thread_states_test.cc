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
    states->threads = {{.track = a,
                        .wall_ns = 100,
                        .on_cpu_ns = 10,
                        .runnable_ns = 5,
                        .unknown_ns = 3,
                        .open_wait_ns = 2,
                        .voluntary_switches = 4,
                        .involuntary_switches = 6,
                        .run_queue = model::RunQueueTime::kWhole}};
    if (cpus == 2) {
      states->threads.push_back({.track = b, .wall_ns = 50, .on_cpu_ns = 50});
      states->threads.push_back({.track = a,
                                 .wall_ns = 7,
                                 .on_cpu_ns = 7,
                                 .run_queue = model::RunQueueTime::kLastKnown});
    }
    shard.shard().thread_states = std::move(states);
    shards.push_back(std::move(shard).Build());
  }
  const Trace trace = Build(std::move(shards));
  const model::ThreadStates& states = *trace.thread_states();
  EXPECT_EQ(states.cpu_count, 2u);
  const model::ThreadTimes b = {.track = 0, .wall_ns = 50, .on_cpu_ns = 50};
  const model::ThreadTimes a = {.track = 1,
                                .wall_ns = 207,
                                .on_cpu_ns = 27,
                                .runnable_ns = 10,
                                .unknown_ns = 6,
                                .open_wait_ns = 4,
                                .voluntary_switches = 8,
                                .involuntary_switches = 12,
                                .run_queue = model::RunQueueTime::kLastKnown};
  EXPECT_THAT(states.threads, ElementsAre(b, a));
}

// Each part of a split trace has the times of the whole recording.
TEST(MergeThreadStatesTest, EqualThreadTimesOfTwoShardsAreTheSame) {
  std::vector<TraceShard> shards;
  for (int i = 0; i < 2; ++i) {
    TestShard shard;
    const TrackIndex a = shard.AddThread(1, 8, "a");
    const TrackIndex b = shard.AddThread(1, 9, "b");
    auto states = std::make_shared<model::ThreadStates>();
    // Two equal lives of one shard are two.
    states->threads = {{.track = a, .wall_ns = 100, .on_cpu_ns = 10},
                       {.track = b, .wall_ns = 5},
                       {.track = b, .wall_ns = 5}};
    shard.shard().thread_states = std::move(states);
    shards.push_back(std::move(shard).Build());
  }
  const Trace trace = Build(std::move(shards));
  const model::ThreadTimes a = {.track = 0, .wall_ns = 100, .on_cpu_ns = 10};
  const model::ThreadTimes b = {.track = 1, .wall_ns = 10};
  EXPECT_THAT(trace.thread_states()->threads, ElementsAre(a, b));
}

// Parts of two recordings in which a thread had the same number.
TEST(MergeThreadStatesTest, TheOrderOfShardsChangesNothing) {
  using Walls = std::vector<DurationNs>;
  for (const Walls& walls :
       {Walls{100, 100, 30}, Walls{100, 30, 100}, Walls{30, 100, 100}}) {
    std::vector<TraceShard> shards;
    for (const DurationNs wall_ns : walls) {
      TestShard shard;
      const TrackIndex a = shard.AddThread(1, 8, "a");
      auto states = std::make_shared<model::ThreadStates>();
      states->threads = {{.track = a, .wall_ns = wall_ns}};
      shard.shard().thread_states = std::move(states);
      shards.push_back(std::move(shard).Build());
    }
    const Trace trace = Build(std::move(shards));
    const model::ThreadTimes sum = {.track = 0, .wall_ns = 130};
    EXPECT_THAT(trace.thread_states()->threads, ElementsAre(sum));
  }
}

}  // namespace
}  // namespace kymo
