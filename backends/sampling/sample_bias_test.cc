#include "backends/sampling/sample_bias.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "backends/sampling/bias_watch.h"
#include "backends/sampling/undelivered.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"

namespace kymo::sampling {
namespace {

using model::Loss;

class SampleBiasTest : public ::testing::Test {
 protected:
  void AddThread() { shard_.tracks.push_back({.pid = 1, .id = 7}); }

  // Samples of the newest thread.
  void AddSamples(size_t count, std::string_view leaf, bool is_kernel) {
    const model::FrameId frame = shard_.stacks.AddFrame(
        {.function = shard_.strings.Intern(leaf), .is_kernel = is_kernel});
    const model::StackId stack = shard_.stacks.Push(model::kEmptyStack, frame);
    for (size_t i = 0; i < count; ++i) {
      shard_.samples.push_back(
          {.track = static_cast<model::TrackIndex>(shard_.tracks.size() - 1),
           .stack = stack,
           .weight_ns = 1});
    }
  }
  uint64_t Noted(Loss loss,
                 TimeNs until_ns = std::numeric_limits<TimeNs>::max()) {
    NoteBias(shard_, until_ns, until_ns);
    return shard_.ledger.Get(loss);
  }

  model::TraceShard shard_;
};

TEST_F(SampleBiasTest, SamplesOfShortThreadsAreBiased) {
  AddThread();
  AddSamples(10, "long", false);
  for (int i = 0; i < 3; ++i) {
    AddThread();
    AddSamples(2, "short", false);
  }
  AddThread();  // without a sample
  EXPECT_EQ(Noted(Loss::kSamplesBiased), 6u);
}

TEST_F(SampleBiasTest, SamplesThatAreAddedUpCount) {
  AddThread();
  AddSamples(3, "long", false);
  shard_.sample_sums.push_back(
      {.track = 0, .stack = shard_.samples[0].stack, .count = 7});
  AddThread();
  AddSamples(2, "short", false);
  AddThread();
  shard_.sample_sums.push_back(
      {.track = 2, .stack = shard_.samples[0].stack, .count = 4});
  EXPECT_EQ(Noted(Loss::kSamplesBiased), 6u);
}

TEST_F(SampleBiasTest, FewShortThreadsAreNotNoted) {
  AddThread();
  AddSamples(180, "long", false);
  AddThread();
  AddSamples(9, "short", false);
  EXPECT_EQ(Noted(Loss::kSamplesBiased), 0u);
}

// More than a twentieth of ten samples or more.
TEST_F(SampleBiasTest, TheShareOfShortThreadsDecides) {
  AddThread();
  AddSamples(190, "long", false);
  AddThread();
  AddSamples(9, "short", false);
  AddThread();
  AddSamples(1, "short", false);
  EXPECT_EQ(Noted(Loss::kSamplesBiased), 0u);  // 10 of 200
  AddThread();
  AddSamples(1, "short", false);
  EXPECT_EQ(Noted(Loss::kSamplesBiased), 11u);  // 11 of 201
}

TEST_F(SampleBiasTest, SamplesOfAllProcessesAreRight) {
  for (int i = 0; i < 20; ++i) {
    AddThread();
    AddSamples(1, "finish_task_switch", true);
    shard_.samples.back().time_ns = i;
  }
  EXPECT_EQ(Noted(Loss::kSamplesBiased, 5), 5u);
  // The advice was followed already.
  EXPECT_EQ(shard_.ledger.Get(Loss::kSamplesAtSwitches), 0u);
}

// Threads of a pool have few samples before the session goes on with events of
// all processes.
TEST_F(SampleBiasTest, AllSamplesOfAThreadTellWhetherItIsShort) {
  for (int thread = 0; thread < 40; ++thread) {
    AddThread();
    for (int i = 0; i < 60; ++i) {
      AddSamples(1, "work", false);
      shard_.samples.back().time_ns = i;
    }
  }
  EXPECT_EQ(Noted(Loss::kSamplesBiased, 5), 0u);
}

TEST_F(SampleBiasTest, AShortRunIsNotNoted) {
  AddThread();
  AddSamples(9, "finish_task_switch", true);
  EXPECT_EQ(Noted(Loss::kSamplesBiased), 0u);
  EXPECT_EQ(shard_.ledger.Get(Loss::kSamplesAtSwitches), 0u);
}

TEST_F(SampleBiasTest, ManySamplesAtSwitchesAreNoted) {
  AddThread();
  AddSamples(70, "serve", false);
  AddSamples(20, "finish_task_switch.isra.0", true);
  AddSamples(10, "finish_task_switch", true);
  // A function of the program that happens to have the name.
  AddSamples(100, "finish_task_switch", false);
  EXPECT_EQ(Noted(Loss::kSamplesAtSwitches), 30u);
}

TEST_F(SampleBiasTest, FewSamplesAtSwitchesAreNotNoted) {
  AddThread();
  AddSamples(90, "serve", false);
  AddSamples(10, "finish_task_switch", true);
  EXPECT_EQ(Noted(Loss::kSamplesAtSwitches), 0u);
}

// Samples of user code.
void Sample(BiasWatch& watch, uint32_t tid, int count) {
  for (int i = 0; i < count; ++i) watch.OnSample(tid, std::nullopt);
}

TEST(BiasWatchTest, ThreadsWithoutASampleAreShort) {
  BiasWatch watch;
  for (uint32_t tid = 1; tid <= 19; ++tid) watch.OnThreadEnd(tid);
  EXPECT_FALSE(watch.IsDue());
  watch.OnThreadEnd(20);
  EXPECT_TRUE(watch.IsDue());
  for (uint32_t tid = 1; tid <= 100; ++tid) watch.OnThreadEnd(tid);
  EXPECT_FALSE(watch.IsDue());  // says so once
}

TEST(BiasWatchTest, ThreadsWithNineSamplesAreShort) {
  BiasWatch watch;
  for (uint32_t tid = 1; tid <= 20; ++tid) {
    Sample(watch, tid, 9);
    watch.OnThreadEnd(tid);
  }
  EXPECT_TRUE(watch.IsDue());
}

TEST(BiasWatchTest, ThreadsWithTenSamplesAreLong) {
  BiasWatch watch;
  for (uint32_t tid = 1; tid <= 40; ++tid) {
    Sample(watch, tid, 10);
    watch.OnThreadEnd(tid);
  }
  EXPECT_FALSE(watch.IsDue());
}

// 1 is no address of the kernel's, so it is no function that switches.
TEST(BiasWatchTest, PlacesThatAreNoSwitchesDoNotMatter) {
  BiasWatch watch;
  for (int i = 0; i < 400; ++i) watch.OnSample(1, 1);
  EXPECT_FALSE(watch.IsDue());
}

TEST(BiasWatchTest, APoolOfThreadsIsNotShort) {
  BiasWatch watch;
  for (int i = 0; i < 60; ++i) {
    for (uint32_t tid = 1; tid <= 40; ++tid) Sample(watch, tid, 1);
  }
  for (uint32_t tid = 1; tid <= 40; ++tid) watch.OnThreadEnd(tid);
  EXPECT_FALSE(watch.IsDue());
}

TEST(BiasWatchTest, FewShortThreadsDoNotMatter) {
  BiasWatch watch;
  uint32_t tid = 2;
  for (int window = 0; window < 10; ++window) {
    for (int i = 0; i < 19; ++i) watch.OnThreadEnd(tid++);
    Sample(watch, 1, 200);
  }
  EXPECT_FALSE(watch.IsDue());
}

// --- undelivered.h ---

// Of 100 periods, 30 may be missing by chance, and of 10,000, 300.
TEST(ChanceTest, FewSamplesSayLittle) {
  const auto is_chance = [](int64_t ran_ms, int64_t got_ms) {
    return IsChance((ran_ms - got_ms) * kNsPerMs, ran_ms * kNsPerMs, kNsPerMs);
  };
  EXPECT_TRUE(is_chance(100, 71));
  EXPECT_FALSE(is_chance(100, 69));
  EXPECT_TRUE(is_chance(10'000, 9'701));
  EXPECT_FALSE(is_chance(10'000, 9'699));
  EXPECT_TRUE(is_chance(100, 200));
}

}  // namespace
}  // namespace kymo::sampling
