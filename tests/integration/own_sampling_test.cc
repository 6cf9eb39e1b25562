// Samples this process, threads of before and threads that begin meanwhile.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>

#include "backends/sampling/perf_events.h"
#include "kymo/profile.h"
#include "profiler/base/clock.h"
#include "profiler/base/time.h"
#include "profiler/model/sample_weights.h"
#include "profiler/model/trace.h"
#include "tests/support/test_threads.h"

namespace kymo {
namespace {

[[gnu::noinline]] void BurnInside(int64_t cpu_ns) {
  const int64_t until_ns = ThreadCpuNs() + cpu_ns;
  while (ThreadCpuNs() < until_ns) {
    for (volatile int i = 0; i < 1'000;) i = i + 1;
  }
}

// CPU time by the name of the thread, and that of stacks with BurnInside.
struct Seen {
  std::map<std::string, int64_t> thread_ns;
  int64_t inside_ns = 0;
};

Seen Read(const model::Trace& trace) {
  Seen seen;
  model::ForEachSampleWeight(trace, [&](const model::SampleSum& sum) {
    seen.thread_ns[std::string(trace.Name(trace.tracks()[sum.track].name))] +=
        sum.weight_ns;
    for (const model::FrameId frame : trace.stacks().Frames(sum.stack)) {
      const auto name = trace.Name(trace.stacks().frame(frame).function);
      if (name.find("BurnInside") == name.npos) continue;
      seen.inside_ns += sum.weight_ns;
      break;
    }
  });
  return seen;
}

TEST(OwnSamplingTest, SamplesOldAndNewThreadsButNotItsOwn) {
  if (!sampling::ProbePerf({}).ok()) {
    GTEST_SKIP() << sampling::ProbePerf({}).status();
  }
  constexpr int64_t kBurnNs = 200 * kNsPerMs;
  const int64_t stolen_before_ns = StolenNs();
  std::atomic<bool> is_recorded = false;
  std::thread old_thread([&] {
    pthread_setname_np(pthread_self(), "old");
    while (!is_recorded) usleep(100);
    BurnInside(kBurnNs);
  });
  Profile profile({.activities = {"cpu", "sampling"},
                   // Rings hold many samples while this waits for a CPU.
                   .settings = {{"sampling_stack_bytes", "8192"}}});
  ASSERT_TRUE(profile.Start().ok());
  is_recorded = true;
  std::thread([&] {
    pthread_setname_np(pthread_self(), "new");
    BurnInside(kBurnNs);
  }).join();
  old_thread.join();
  // A child is none of it.
  const pid_t child = fork();
  if (child == 0) {
    BurnInside(kBurnNs);
    _exit(absl::IsFailedPrecondition(profile.Stop()) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(profile.Stop().ok());

  const Seen seen = Read(*profile.trace());
  // Samples count what the host took from the CPUs, too.
  const auto stolen_ns = static_cast<double>(StolenSince(stolen_before_ns));
  for (const char* const name : {"old", "new"}) {
    ASSERT_TRUE(seen.thread_ns.contains(name)) << name;
    const auto thread_ns = static_cast<double>(seen.thread_ns.at(name));
    EXPECT_GE(thread_ns, 0.8 * kBurnNs) << name;
    EXPECT_LE(thread_ns, 1.2 * kBurnNs + stolen_ns) << name;
  }
  EXPECT_GE(static_cast<double>(seen.inside_ns), 1.6 * kBurnNs);
  EXPECT_LE(static_cast<double>(seen.inside_ns), 2.4 * kBurnNs + stolen_ns);
  EXPECT_FALSE(seen.thread_ns.contains("kymo-sampling"));
}

TEST(OwnSamplingTest, IsNotRecordedUnlessItIsNamed) {
  Profile profile;
  ASSERT_TRUE(profile.Start().ok());
  BurnInside(5 * kNsPerMs);
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_TRUE(profile.trace()->samples().empty());
}

TEST(OwnSamplingTest, TimersAreRefused) {
  Profile profile({.activities = {"sampling"},
                   .settings = {{"sampling_sampler", "timer"}}});
  const absl::Status status = profile.Start();
  EXPECT_NE(status.message().find("leave out sampling_sampler=timer"),
            status.message().npos)
      << status;
}

}  // namespace
}  // namespace kymo
