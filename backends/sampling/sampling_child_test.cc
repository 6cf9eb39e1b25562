// Samples real programs with both samplers. If perf_event_open is not
// permitted, the perf half says so and does nothing. The timers' half tests
// everything else.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>

#include "backends/sampling/perf_events.h"
#include "backends/sampling/profile_child.h"
#include "profiler/base/clock.h"

namespace kymo::sampling {
namespace {

using model::Loss;

std::string DataFile(const std::string& name) {
  return std::string(std::getenv("TEST_SRCDIR")) + "/" +
         std::getenv("TEST_WORKSPACE") + "/backends/sampling/" + name;
}

class SamplingChildTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    options_.target = TargetKind::kChildProcess;
    options_.settings["sampling_sampler"] = GetParam();
    if (IsTimer()) return;
    const auto access = ProbePerf(Settings{});
    if (access.ok()) return;
    GTEST_SKIP() << "NOT TESTED HERE: " << access.status();
  }
  bool IsTimer() const { return std::string(GetParam()) == "timer"; }

  void Run(const std::string& program, const std::string& mode, int ms) {
    auto run =
        ProfileChild(options_, {DataFile(program), mode, std::to_string(ms)},
                     DataFile("libtest_preload.so"));
    ASSERT_TRUE(run.ok()) << run.status();
    run_ = *std::move(run);
    ASSERT_TRUE(WIFEXITED(run_.wait_status));
    ASSERT_EQ(WEXITSTATUS(run_.wait_status), 0);
    ASSERT_FALSE(shard().samples.empty());
  }
  const model::TraceShard& shard() const { return run_.shard; }
  double SampledMs() const {
    double weight_ns = 0;
    for (const auto& sample : shard().samples) {
      weight_ns += static_cast<double>(sample.weight_ns);
    }
    return weight_ns / 1e6;
  }
  std::string NameOf(model::NameId id) const {
    return std::string(shard().strings.Get(id));
  }

  SessionOptions options_;
  ChildRun run_;
};

TEST_P(SamplingChildTest, TimeIsWhereItWasSpent) {
  const TimeNs before_ns = MonotonicNs() + EpochOffsetNs();
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "ratio", 1200));
  const TimeNs after_ns = MonotonicNs() + EpochOffsetNs();
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.75, 0.05) << Summary(shard());
  EXPECT_NEAR(ShareOf(shard(), "BurnOne"), 0.25, 0.05) << Summary(shard());
  EXPECT_GT(ShareOf(shard(), "main"), 0.9) << Summary(shard());
  const double cpu_ms = static_cast<double>(run_.cpu_time_ns) / 1e6;
  EXPECT_NEAR(SampledMs() / cpu_ms, 1, 0.05);
  EXPECT_EQ(shard().ledger.Get(Loss::kSamplesLost), 0u);
  EXPECT_EQ(shard().ledger.Get(Loss::kSamplesNotDelivered), 0u);
  EXPECT_EQ(shard().ledger.Get(Loss::kStacksTruncated), 0u);
  EXPECT_EQ(shard().sampling_period_ns, kNsPerMs);
  for (const auto& sample : shard().samples) {
    EXPECT_GE(sample.time_ns, before_ns);
    EXPECT_LE(sample.time_ns, after_ns);
    EXPECT_EQ(sample.weight_ns % kNsPerMs, 0);
  }
}

TEST_P(SamplingChildTest, ThreadsHaveTheirTracksAndNames) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "threads", 400));
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.5, 0.05) << Summary(shard());
  std::set<std::string> names;
  for (const auto& track : shard().tracks) {
    EXPECT_EQ(track.pid, run_.pid);
    names.insert(NameOf(track.name));
  }
  EXPECT_TRUE(names.count("burner-three")) << Summary(shard());
  EXPECT_TRUE(names.count("burner-one")) << Summary(shard());
}

TEST_P(SamplingChildTest, ForkedChildrenAreFollowed) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "fork", 400));
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.5, 0.05) << Summary(shard());
  const auto child = std::find_if(
      shard().processes.begin(), shard().processes.end(),
      [&](const model::Process& p) { return p.parent_pid == run_.pid; });
  ASSERT_NE(child, shard().processes.end());
  EXPECT_EQ(NameOf(child->name), "test_burner");
  if (!IsTimer()) {
    EXPECT_GT(child->start_ns, 0);
    EXPECT_GT(child->end_ns, child->start_ns);
  }
}

TEST_P(SamplingChildTest, ExecIsFollowed) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "exec", 400));
  // Half of the time in the first image, then 3:1.
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.375, 0.05) << Summary(shard());
  EXPECT_NEAR(ShareOf(shard(), "BurnOne"), 0.625, 0.05) << Summary(shard());
}

TEST_P(SamplingChildTest, AStackDeeperThanTheCopyIsCountedAsTruncated) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "deep", 300));
  EXPECT_GT(shard().ledger.Get(Loss::kStacksTruncated),
            shard().samples.size() / 2);
  EXPECT_GT(ShareOf(shard(), "[truncated]"), 0.5) << Summary(shard());
  for (const auto& stack : SampledStacks(shard())) {
    for (size_t i = 1; i < stack.size(); ++i)
      EXPECT_NE(stack[i], "[truncated]");
  }
  EXPECT_GT(ShareOf(shard(), "BurnOne"), 0.8) << Summary(shard());
  EXPECT_GT(ShareOf(shard(), "BurnDeep"), 0.8) << Summary(shard());
}

TEST_P(SamplingChildTest, AProgramMayUseSigprofItself) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "prof", 600));
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.75, 0.05) << Summary(shard());
}

// The children live for 1.2 periods. Perf events see only what they do after the
// first one, and say so. Some 300 of 1000 children meet a tick of the kernel.
TEST_P(SamplingChildTest, ShortProcessesAreShownRightOrSaidToBeBiased) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "short", 1000));
  const double two = ShareOf(shard(), "ShortTwo");
  const double one = ShareOf(shard(), "ShortOne");
  if (IsTimer()) {
    // On a busy machine, slices of time begin at ticks, which favours what comes
    // late. If each thread's first period were left out, this would be near 0.
    EXPECT_NEAR(two / (two + one), 2.0 / 3, 0.2) << Summary(shard());
    EXPECT_EQ(shard().ledger.Get(Loss::kSamplesBiased), 0u);
  } else {
    EXPECT_GT(shard().ledger.Get(Loss::kSamplesBiased), 500u)
        << Summary(shard());
  }
}

TEST_P(SamplingChildTest, LibrariesThatWereLoadedAtOnePlaceAreApart) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "turns", 1200));
  EXPECT_NEAR(ShareOf(shard(), "test_library_small"), 0.75, 0.05)
      << Summary(shard());
  EXPECT_NEAR(ShareOf(shard(), "test_library_large"), 0.25, 0.05)
      << Summary(shard());
}

TEST_P(SamplingChildTest, StaticProgramsAreSampledFromOutsideOnly) {
  if (IsTimer()) {
    options_.target_path = DataFile("test_burner_static");
    const auto run = ProfileChild(options_, {options_.target_path});
    EXPECT_EQ(run.status().code(), absl::StatusCode::kFailedPrecondition);
    return;
  }
  ASSERT_NO_FATAL_FAILURE(Run("test_burner_static", "ratio", 400));
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.75, 0.05) << Summary(shard());
  EXPECT_GT(ShareOf(shard(), "main"), 0.9) << Summary(shard());
}

TEST_P(SamplingChildTest, FramePointersAreEnoughWhereTheyAre) {
  options_.settings["sampling_unwind"] = "fp";
  if (IsTimer()) {
    EXPECT_FALSE(ProfileChild(options_, {"/bin/true"}).ok());
    return;
  }
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "ratio", 400));
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.75, 0.05) << Summary(shard());
}

TEST_P(SamplingChildTest, AProgramThatEndsAtOnceIsFine) {
  const auto run =
      ProfileChild(options_, {"/bin/true"}, DataFile("libtest_preload.so"));
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->wait_status, 0);
  EXPECT_EQ(run->shard.ledger.Get(Loss::kSamplesNotDelivered), 0u);
}

INSTANTIATE_TEST_SUITE_P(Samplers, SamplingChildTest,
                         ::testing::Values("perf", "timer"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace kymo::sampling
