// Programs that know how long their threads ran and waited: test_waiter.cc.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/off_cpu/off_cpu_backend.h"
#include "backends/off_cpu/test_waiter_run.h"

namespace kymo {
namespace {

using model::Loss;
using model::RunQueueTime;
using model::ThreadTimes;

class OffCpuChildTest : public TestWaiterRun {
 protected:
  // As the thread says itself, within 1 %, a tick of the kernel, and what
  // switches take: only the kernel's clock counts them as the thread's time.
  void ExpectCpuTime(const ThreadTimes& times, const Truth& truth) const {
    const auto on_cpu_ns = static_cast<double>(times.on_cpu_ns);
    const auto switches = truth.counts.voluntary + truth.counts.involuntary;
    SCOPED_TRACE(std::to_string(switches) + " switches, stolen " +
                 std::to_string(stolen_ns_) + " ns; told " +
                 std::to_string(truth.gone_ns - truth.told_ns) +
                 " ns before it was gone");
    EXPECT_LE(on_cpu_ns, 1.01 * static_cast<double>(truth.counts.cpu_ns) + 2e6 +
                             static_cast<double>(stolen_ns_));
    EXPECT_GE(on_cpu_ns, 0.99 * static_cast<double>(truth.since_main.cpu_ns) -
                             2e6 -
                             kMostSwitchNs * static_cast<double>(switches));
  }

  // Every thread as it says itself. A few switches may follow.
  void ExpectTruth(const std::vector<std::string>& names) {
    std::vector<std::string> told;
    for (const Truth& truth : truth_) {
      SCOPED_TRACE(truth.name + " " + std::to_string(truth.tid));
      told.push_back(truth.name);
      const ThreadTimes* const times = Find(truth.tid);
      ASSERT_NE(times, nullptr);
      ExpectCpuTime(*times, truth);
      const auto voluntary = static_cast<int64_t>(times->voluntary_switches);
      EXPECT_GE(voluntary, truth.since_main.voluntary - 5);
      EXPECT_LE(voluntary, truth.counts.voluntary + 5);
      const auto involuntary =
          static_cast<int64_t>(times->involuntary_switches);
      EXPECT_GE(involuntary, truth.since_main.involuntary - 5);
      EXPECT_LE(involuntary, truth.counts.involuntary + 5);
      EXPECT_EQ(times->unknown_ns, 0);
      EXPECT_GE(times->blocked_ns(), 0);
    }
    std::sort(told.begin(), told.end());
    EXPECT_EQ(told, names);
    EXPECT_EQ(shard_.ledger.Get(Loss::kSwitchesLost), 0u);
    EXPECT_EQ(shard_.ledger.Get(Loss::kRecordsCorrupt), 0u);
  }

  // A thread that slept for a millisecond each time; the last sleep may have
  // been cut. How long it then waits for a CPU depends on the machine.
  static void ExpectSleeps(const ThreadTimes& times) {
    const auto sleeps = static_cast<int64_t>(times.voluntary_switches) - 1;
    EXPECT_GE(times.blocked_ns(), sleeps * 9 / 10 * kNsPerMs);
    EXPECT_GT(times.blocked_ns() + times.runnable_ns, times.wall_ns / 2);
  }
};

TEST_F(OffCpuChildTest, SleepersAndSpinnersAreToldApart) {
  ASSERT_NO_FATAL_FAILURE(Run("mix", 400));
  EXPECT_EQ(wait_status_, 0);
  ExpectTruth({"main", "sleeper", "spinner"});
  for (const Truth& truth : truth_) {
    const ThreadTimes& times = *Find(truth.tid);
    EXPECT_EQ(TrackOf(times).pid, pid_);
    if (truth.name == "main") continue;
    EXPECT_EQ(NameOf(times), truth.name);
    EXPECT_EQ(times.run_queue, RunQueueTime::kLastKnown);
    EXPECT_EQ(times.creator, Find(pid_)->track);
    EXPECT_EQ(times.end_ns - times.begin_ns, times.wall_ns);
    EXPECT_GE(times.begin_ns, Find(pid_)->begin_ns);
    EXPECT_LE(times.end_ns, Find(pid_)->end_ns);
    // No more than the program's own life, and at least what was asked for.
    EXPECT_LE(times.wall_ns, wall_ns_);
    EXPECT_GE(times.wall_ns, 400 * kNsPerMs);
    if (truth.name == "sleeper") {
      EXPECT_GT(times.voluntary_switches, 20u);
      ExpectSleeps(times);
    } else {
      EXPECT_LT(times.blocked_ns(), times.wall_ns / 20);
    }
  }
  EXPECT_EQ(shard_.thread_states->threads.size(), 3u);
  EXPECT_GT(shard_.thread_states->cpu_count, 0u);
  EXPECT_GT(shard_.thread_states->kymo_cpu_ns, 0);
  EXPECT_LT(shard_.thread_states->kymo_cpu_ns, 10 * kNsPerSecond);
}

// What a thread waits for its CPU, it waits after preemptions: nothing blocks.
TEST_F(OffCpuChildTest, ThreadsThatShareACpuWaitForIt) {
  ASSERT_NO_FATAL_FAILURE(Run("contend", 300));
  ExpectTruth({"main", "spinner", "spinner"});
  for (const Truth& truth : truth_) {
    if (truth.name != "spinner") continue;
    const ThreadTimes& times = *Find(truth.tid);
    EXPECT_GT(times.runnable_ns, 200 * kNsPerMs);
    const auto runnable_ns = static_cast<double>(times.runnable_ns);
    const auto run_queue_ns = static_cast<double>(truth.counts.run_queue_ns);
    // Where the host takes the CPU in the middle of a switch, the record of the
    // switch is late.
    EXPECT_GE(runnable_ns,
              0.99 * run_queue_ns - 2e6 - static_cast<double>(stolen_ns_));
    // It may wait again after it has told.
    const DurationNs rest_ns = times.end_ns - EpochOffsetNs() - truth.told_ns;
    EXPECT_LE(runnable_ns,
              1.01 * run_queue_ns + 2e6 + static_cast<double>(rest_ns));
    EXPECT_LT(times.blocked_ns(), times.wall_ns / 20);
  }
}

// It sleeps until its end, and then nobody can read its counts any more.
TEST_F(OffCpuChildTest, AThreadWithHooksHasTheKernelsTotals) {
  source_ = off_cpu::StackSource::kLooks;
  preload_ = DataFile("calls/libtest_hooks.so");
  ASSERT_NO_FATAL_FAILURE(Run("mix", 300));
  ExpectTruth({"main", "sleeper", "spinner"});
  for (const Truth& truth : truth_) {
    if (truth.name != "sleeper") continue;
    const ThreadTimes& times = *Find(truth.tid);
    EXPECT_EQ(times.run_queue, RunQueueTime::kWhole);
    const DurationNs rest_ns = times.end_ns - EpochOffsetNs() - truth.told_ns;
    EXPECT_GE(times.runnable_ns, truth.counts.run_queue_ns);
    EXPECT_LE(times.runnable_ns, truth.counts.run_queue_ns + rest_ns);
    EXPECT_GE(times.on_cpu_ns, truth.counts.cpu_ns);
    EXPECT_LE(times.on_cpu_ns, truth.counts.cpu_ns + rest_ns + stolen_ns_);
    EXPECT_TRUE(times.counts.has_io);
  }
}

// The kernel counts both together.
TEST_F(OffCpuChildTest, WaitsForACpuBeforeTheExecAreNotTheProgram) {
  shares_cpu_before_exec_ = true;
  ASSERT_NO_FATAL_FAILURE(Run("mix", 100));
  EXPECT_GT(before_.run_queue_ns, 50 * kNsPerMs);
  for (const Truth& truth : truth_) {
    if (truth.name != "main") continue;
    const DurationNs rest_ns = truth.gone_ns - truth.told_ns;
    EXPECT_LE(Find(pid_)->runnable_ns,
              truth.counts.run_queue_ns + 2 * kNsPerMs + rest_ns);
  }
}

// Each hand-over blocks one thread and wakes the other.
TEST_F(OffCpuChildTest, HandOversAreAllSeen) {
  constexpr int64_t kHandOvers = 20'000;
  ASSERT_NO_FATAL_FAILURE(Run("paced", kHandOvers));
  ExpectTruth({"main", "ping", "pong"});
  for (const Truth& truth : truth_) {
    if (truth.name == "main") continue;
    EXPECT_GE(Find(truth.tid)->voluntary_switches +
                  Find(truth.tid)->involuntary_switches,
              uint64_t{kHandOvers} * 9 / 10);
    EXPECT_GT(Find(truth.tid)->on_cpu_ns, truth.counts.cpu_ns / 2);
  }
}

TEST_F(OffCpuChildTest, ForkedChildrenAreFollowed) {
  ASSERT_NO_FATAL_FAILURE(Run("fork", 200));
  ExpectTruth({"child", "main"});
  for (const Truth& truth : truth_) {
    const model::Track& track = TrackOf(*Find(truth.tid));
    EXPECT_EQ(track.pid, truth.tid);
    EXPECT_EQ(truth.name == "main", track.pid == pid_);
    EXPECT_EQ(Find(truth.tid)->creator,
              truth.name == "main" ? model::kNoTrack : Find(pid_)->track);
    if (truth.name == "main") {
      EXPECT_GT(Find(truth.tid)->blocked_ns(), 150 * kNsPerMs);
    }
  }
}

// The new program's main thread gets the number of the old one, which ended.
TEST_F(OffCpuChildTest, AnExecOfAnotherThreadIsFollowed) {
  ASSERT_NO_FATAL_FAILURE(Run("exec", 200));
  std::map<std::string, Truth> by_name;
  for (const Truth& truth : truth_) by_name[truth.name] = truth;
  ASSERT_EQ(by_name.size(), 3u);
  EXPECT_EQ(by_name["main"].tid, pid_);
  for (const char* const name : {"sleeper", "spinner"}) {
    const ThreadTimes* const times = Find(by_name[name].tid);
    ASSERT_NE(times, nullptr) << name;
    ExpectCpuTime(*times, by_name[name]);
  }
  // The new main thread keeps the kernel's counts of the thread that it was.
  const int64_t run_queue_ns = by_name["main"].counts.run_queue_ns;
  EXPECT_GT(run_queue_ns, 100 * kNsPerMs);
  EXPECT_LT(Find(pid_)->runnable_ns, run_queue_ns / 2);
  // Main, the thread that became a program, the one beside it, and the two of
  // `mix`.
  EXPECT_EQ(shard_.thread_states->threads.size(), 5u);
  EXPECT_LE(Find(pid_)->wall_ns, wall_ns_);
  // The number of the thread that became a program ended with the exec.
  for (const ThreadTimes& times : shard_.thread_states->threads) {
    const int64_t tid = TrackOf(times).id;
    if (tid == pid_ || tid == by_name["sleeper"].tid) continue;
    if (tid == by_name["spinner"].tid) continue;
    EXPECT_LT(times.wall_ns, wall_ns_ - 200 * kNsPerMs);
    EXPECT_EQ(times.open_wait_ns, 0);
  }
}

TEST_F(OffCpuChildTest, AKilledProgramKeepsItsTimes) {
  ASSERT_NO_FATAL_FAILURE(Run("kill", 200));
  EXPECT_TRUE(WIFSIGNALED(wait_status_));
  ExpectTruth({"spinner"});
  const auto& threads = shard_.thread_states->threads;
  const auto sleeper = std::find_if(
      threads.begin(), threads.end(),
      [&](const ThreadTimes& t) { return NameOf(t) == "sleeper"; });
  ASSERT_NE(sleeper, threads.end());
  EXPECT_GE(sleeper->wall_ns, 190 * kNsPerMs);
  ExpectSleeps(*sleeper);
}

// It is blocked when the recording ends.
TEST_F(OffCpuChildTest, AWaitThatOutlivesTheProgramIsOpen) {
  ASSERT_NO_FATAL_FAILURE(Run("leave", 1'000));
  const auto& threads = shard_.thread_states->threads;
  ASSERT_EQ(threads.size(), 2u);
  for (const ThreadTimes& times : threads) {
    if (TrackOf(times).pid == pid_) {
      EXPECT_EQ(times.open_wait_ns, 0);
    } else {
      EXPECT_EQ(times.run_queue, RunQueueTime::kWhole);
      EXPECT_GT(times.open_wait_ns, 50 * kNsPerMs);
      EXPECT_LE(times.open_wait_ns, times.blocked_ns());
      const model::Wait wait = LongestOf(TrackOf(times).id);
      EXPECT_TRUE(wait.is_open);
      EXPECT_EQ(wait.kind, model::WaitKind::kSleep);
      EXPECT_EQ(wait.duration_ns, times.open_wait_ns);
    }
  }
}

TEST_F(OffCpuChildTest, SwitchesThatNobodyReadsAreCountedAsLost) {
  ASSERT_NO_FATAL_FAILURE(Run("pingpong", 50'000, /*polls=*/false));
  EXPECT_GT(shard_.ledger.Get(Loss::kSwitchesLost), 10'000u);
  EXPECT_EQ(shard_.ledger.Get(Loss::kRecordsCorrupt), 0u);
  for (const ThreadTimes& times : shard_.thread_states->threads) {
    EXPECT_GE(times.blocked_ns(), times.open_wait_ns);
  }
  // What they did then is unknown, not of some state.
  ASSERT_EQ(truth_.size(), 3u);
  for (const Truth& truth : truth_) {
    SCOPED_TRACE(truth.name);
    const ThreadTimes* const times = Find(truth.tid);
    ASSERT_NE(times, nullptr);
    EXPECT_GT(times->unknown_ns, 0);
    EXPECT_LE(static_cast<double>(times->on_cpu_ns),
              1.01 * static_cast<double>(truth.counts.cpu_ns) + 2e6 +
                  static_cast<double>(stolen_ns_));
  }
}

TEST(OffCpuBackendTest, IsADefaultForProgramsOnly) {
  const auto backend = NewOffCpuBackend();
  SessionOptions options;
  EXPECT_FALSE(backend->IsWanted({}, options));
  EXPECT_TRUE(backend->IsWanted({"off_cpu"}, options));
  options.target = TargetKind::kChildProcess;
  EXPECT_TRUE(backend->IsWanted({}, options));
  EXPECT_FALSE(backend->IsWanted({"cpu"}, options));
}

}  // namespace
}  // namespace kymo
