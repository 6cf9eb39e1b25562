#include "backends/sampling/sample_bias.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <string_view>

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
    NoteBias(shard_, until_ns);
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

TEST_F(SampleBiasTest, FewShortThreadsAreNotNoted) {
  AddThread();
  AddSamples(180, "long", false);
  AddThread();
  AddSamples(9, "short", false);
  EXPECT_EQ(Noted(Loss::kSamplesBiased), 0u);
}

TEST_F(SampleBiasTest, SamplesOfAllProcessesAreRight) {
  for (int i = 0; i < 20; ++i) {
    AddThread();
    AddSamples(1, "finish_task_switch", true);
    shard_.samples.back().time_ns = i;
  }
  EXPECT_EQ(Noted(Loss::kSamplesBiased, 5), 5u);
  EXPECT_EQ(shard_.ledger.Get(Loss::kSamplesAtSwitches), 5u);
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

}  // namespace
}  // namespace kymo::sampling
