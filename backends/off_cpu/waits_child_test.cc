// Programs that know why their threads waited: test_waiter.cc,
// test_interrupts.cc.
//
// Long, because each test runs with each source of stacks.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/off_cpu/off_cpu_session.h"
#include "backends/off_cpu/test_waiter_run.h"
#include "backends/off_cpu/thread_status.h"
#include "backends/off_cpu/totals_session.h"
#include "backends/sampling/perf_events.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo {
namespace {

using model::ThreadTimes;
using model::Wait;
using model::WaitKind;

using off_cpu::StackSource;

// Where stacks come from. Hooks come with looks.
enum class Source : uint8_t { kSamples, kLooks, kHooks };

class WaitsChildTest : public TestWaiterRun,
                       public ::testing::WithParamInterface<Source> {
 protected:
  void SetUp() override {
    TestWaiterRun::SetUp();
    source_ =
        HasSamples() ? StackSource::kSamplesAndLooks : StackSource::kLooks;
    if (HasHooks()) preload_ = DataFile("calls/libtest_hooks.so");
    if (HasSamples()) {
      const auto events = sampling::PerfEvents::OpenSwitchStacks(getpid());
      if (!events.ok()) GTEST_SKIP() << "NOT TESTED HERE: " << events.status();
    }
  }
  // What switches take is the time of a thread on its CPU, and of its waits. On
  // a busy machine a switch takes longer than is known of it.
  static DurationNs MostWaitedNs(const ThreadTimes& times) {
    const auto switches = static_cast<DurationNs>(times.voluntary_switches +
                                                  times.involuntary_switches);
    return times.wall_ns - times.on_cpu_ns - times.unknown_ns +
           kMostSwitchNs * switches + times.wall_ns / 50;
  }
  // A time in which a thread of test_waiter had the lock.
  struct Hold {
    int64_t tid = 0;
    int64_t begin_ns = 0;
    int64_t unlock_ns = 0;  // it gave the lock back between these two
    int64_t unlocked_ns = 0;
    std::string function;
  };
  static std::vector<Hold> ReadHolds() {
    std::ifstream file(std::string(getenv("TEST_TMPDIR")) +
                       "/truth-locks.holds");
    std::vector<Hold> holds;
    for (Hold hold; file >> hold.tid >> hold.begin_ns >> hold.unlock_ns >>
                    hold.unlocked_ns >> hold.function;) {
      holds.push_back(hold);
    }
    return holds;
  }
  // Whether the waker's time with the lock ended in the wait.
  bool GaveItBack(const std::vector<Hold>& holds, const Wait& wait) const {
    return std::ranges::any_of(holds, [&](const Hold& hold) {
      return hold.tid == shard_.tracks[wait.waker].id &&
             hold.unlocked_ns >= wait.begin_ns - EpochOffsetNs() &&
             hold.unlock_ns <= wait.end_ns() - EpochOffsetNs();
    });
  }
  static bool HasSamples() { return GetParam() == Source::kSamples; }
  static bool HasHooks() { return GetParam() == Source::kHooks; }
};

INSTANTIATE_TEST_SUITE_P(Sources, WaitsChildTest,
                         ::testing::Values(Source::kSamples, Source::kLooks,
                                           Source::kHooks),
                         [](const auto& info) {
                           if (info.param == Source::kHooks) return "Hooks";
                           return info.param == Source::kLooks ? "Looks"
                                                               : "Samples";
                         });

// Locks 60 %, a pipe 25 %, sleep 15 % on an idle machine. What it is here, the
// program itself measures.
TEST_P(WaitsChildTest, WaitsHaveTheirKindAndPlace) {
  ASSERT_NO_FATAL_FAILURE(Run("waits", 3));
  std::ifstream file(std::string(getenv("TEST_TMPDIR")) + "/truth-waits.waits");
  double lock_ns = 0, pipe_ns = 0, time_ns = 0;
  int interrupted = -1;
  ASSERT_TRUE(file >> lock_ns >> pipe_ns >> time_ns >> interrupted);
  EXPECT_EQ(interrupted, 0);
  const double all_ns = lock_ns + pipe_ns + time_ns;
  ASSERT_GT(lock_ns, 0);
  // The program's own times have preemptions in them.
  DurationNs preempted_ns = 0;
  for (const Wait& wait : shard_.thread_states->waits) {
    if (wait.kind == WaitKind::kCpuBusy) preempted_ns += wait.duration_ns;
  }
  const double most = 0.02 + static_cast<double>(preempted_ns) / all_ns;
  const auto share = [&](const char* function, WaitKind kind) {
    return static_cast<double>(WaitedIn(function, kind)) / all_ns;
  };
  EXPECT_NEAR(share("(anonymous namespace)::WaitForLock", WaitKind::kLock),
              lock_ns / all_ns, most);
  EXPECT_NEAR(share("(anonymous namespace)::WaitForPipe", WaitKind::kPipe),
              pipe_ns / all_ns, most);
  EXPECT_NEAR(share("(anonymous namespace)::WaitForTime", WaitKind::kSleep),
              time_ns / all_ns, most);
  for (const Wait& wait : shard_.thread_states->waits) {
    const std::string_view object = shard_.strings.Get(wait.object_name);
    if (wait.kind == WaitKind::kLock && wait.duration_ns > 10 * kNsPerMs) {
      EXPECT_TRUE(object.ends_with("g_waiter_mutex in test_waiter")) << object;
    }
    if (IsIn(wait.stack, "(anonymous namespace)::WaitForPipe") &&
        wait.kind == WaitKind::kPipe && wait.duration_ns > 10 * kNsPerMs) {
      EXPECT_EQ(object, "pipe from itself");
    }
  }
  // Whatever it is blocked for, it has a stack.
  double blocked_ns = 0, without_stack_ns = 0;
  const auto add = [&](const auto& wait) {
    if (shard_.tracks[wait.track].pid != pid_) return;
    if (wait.kind == WaitKind::kCpuBusy) return;
    const auto duration_ns = static_cast<double>(wait.duration_ns);
    blocked_ns += duration_ns;
    if (wait.stack == model::kEmptyStack) without_stack_ns += duration_ns;
  };
  for (const Wait& wait : shard_.thread_states->waits) add(wait);
  for (const auto& sum : shard_.thread_states->short_waits) add(sum);
  EXPECT_GE(blocked_ns, all_ns);
  // Looks come late where others have the CPU.
  EXPECT_LE(
      without_stack_ns / blocked_ns,
      HasSamples() ? 0.02 : 0.05 + static_cast<double>(preempted_ns) / all_ns);
}

// Looks miss a millisecond's sleeps.
TEST_P(WaitsChildTest, SamplesAndHooksSeeShortWaits) {
  ASSERT_NO_FATAL_FAILURE(Run("mix", 300));
  DurationNs sleep_ns = 0;
  const auto add = [&](const auto& wait) {
    if (wait.kind == WaitKind::kSleep) sleep_ns += wait.duration_ns;
  };
  for (const Wait& wait : shard_.thread_states->waits) add(wait);
  for (const auto& sum : shard_.thread_states->short_waits) add(sum);
  for (const ThreadTimes& times : shard_.thread_states->threads) {
    if (NameOf(times) != "sleeper") continue;
    EXPECT_LE(sleep_ns, MostWaitedNs(times));
    if (!HasSamples() && !HasHooks()) continue;
    EXPECT_GE(static_cast<double>(sleep_ns),
              0.98 * static_cast<double>(times.blocked_ns()));
  }
}

// The code of a process is known until its exec or its end, and the collector
// reads what hooks noted later.
TEST_P(WaitsChildTest, LastWaitsBeforeAnExecAndAnEndHaveTheirStacks) {
  ASSERT_NO_FATAL_FAILURE(Run("last", 30));
  int sleeps = 0;
  for (const Wait& wait : shard_.thread_states->waits) {
    if (wait.kind != WaitKind::kSleep) continue;
    ++sleeps;
    EXPECT_TRUE(IsIn(wait.stack, "(anonymous namespace)::SleepNs"));
    if (HasHooks()) {
      EXPECT_TRUE(IsIn(wait.stack, "main"));
    }
  }
  EXPECT_EQ(sleeps, 2);
}

// Each time off a CPU is a wait, or in a sum.
TEST_P(WaitsChildTest, WaitsAddUpToTheTimeOffCpus) {
  ASSERT_NO_FATAL_FAILURE(Run("mix", 200));
  const model::ThreadStates& states = *shard_.thread_states;
  for (const ThreadTimes& times : states.threads) {
    DurationNs sum_ns = 0;
    for (const Wait& wait : states.waits) {
      EXPECT_TRUE(wait.is_open || wait.duration_ns >= states.min_wait_ns);
      if (wait.track == times.track) sum_ns += wait.duration_ns;
    }
    for (const model::WaitSum& sum : states.short_waits) {
      EXPECT_LE(sum.longest_ns, sum.duration_ns);
      if (sum.track == times.track) sum_ns += sum.duration_ns;
    }
    EXPECT_GE(sum_ns, times.wall_ns - times.on_cpu_ns - times.unknown_ns);
    EXPECT_LE(sum_ns, MostWaitedNs(times));
  }
}

// Hand-overs through pipes are more than the budget of samples permits.
TEST_P(WaitsChildTest, HandOversAreSampled) {
  ASSERT_NO_FATAL_FAILURE(Run("paced", 20'000));
  uint64_t pipe = 0, unknown = 0;
  for (const auto& sum : shard_.thread_states->short_waits) {
    if (sum.kind == WaitKind::kPipe) pipe += sum.count;
    if (sum.kind == WaitKind::kUnknown) unknown += sum.count;
  }
  if (HasHooks()) {
    EXPECT_GT(pipe, 10'000u);
    EXPECT_LT(unknown, pipe / 20);
  }
  if (HasSamples()) {
    EXPECT_GT(pipe, 100u);
  }
}

// The program says who had the lock, and when. A holder is right if that thread
// had the lock during the wait, and its stack is of the function that had it.
TEST_P(WaitsChildTest, HoldersOfLocksAreNamedRightly) {
  ASSERT_NO_FATAL_FAILURE(Run("locks", 40));
  const auto holds = ReadHolds();
  ASSERT_GT(holds.size(), 80u);
  int waits = 0, long_waits = 0, named = 0, long_named = 0, right = 0;
  int stacks = 0, right_stacks = 0, woken = 0, woken_rightly = 0;
  for (const Wait& wait : shard_.thread_states->waits) {
    if (wait.kind != WaitKind::kLock || wait.is_open) continue;
    const bool is_long = wait.duration_ns >= 15 * kNsPerMs;
    ++waits;
    if (wait.waker != model::kNoTrack) {
      ++woken;
      woken_rightly += GaveItBack(holds, wait);
    }
    long_waits += is_long;
    const bool was_seen = wait.holder != model::kNoTrack;
    const auto holder = was_seen ? wait.holder : wait.waker;
    // Of a thread that ran, a look sees no stack.
    const auto stack = wait.holder_stack != model::kEmptyStack ||
                               (was_seen && wait.waker != wait.holder)
                           ? wait.holder_stack
                           : wait.waker_stack;
    if (holder == model::kNoTrack) continue;
    ++named;
    long_named += is_long;
    bool is_right = false, is_right_stack = false;
    for (const Hold& hold : holds) {
      if (hold.tid != shard_.tracks[holder].id ||
          hold.begin_ns > wait.end_ns() - EpochOffsetNs() ||
          hold.unlocked_ns < wait.begin_ns - EpochOffsetNs()) {
        continue;
      }
      is_right = true;
      is_right_stack = is_right_stack ||
                       IsIn(stack, "(anonymous namespace)::" + hold.function);
    }
    right += is_right;
    stacks += stack != model::kEmptyStack;
    right_stacks += is_right_stack;
  }
  std::cerr << waits << " waits, " << named << " named, " << right
            << " rightly; " << long_waits << " long, " << long_named
            << " named; " << stacks << " stacks, " << right_stacks << " right; "
            << woken << " woken, " << woken_rightly << " rightly\n";
  EXPECT_GT(long_waits, 10);
  EXPECT_GE(right, 0.99 * named);
  // On a busy machine most holders wait for a CPU, and looks see no stack then.
  EXPECT_GT(stacks, HasSamples() || HasHooks() ? long_waits / 5 : 0);
  // One per cent of few is less than one.
  EXPECT_GE(right_stacks + 1, 0.99 * stacks);
  // On a busy machine, a lock may have no holder at any look, because the next
  // one has no CPU yet. Other bounds leave room for its late wakers, too.
  if (HasSamples() || HasHooks()) {
    EXPECT_GE(right, 0.9 * waits);
    EXPECT_GE(woken, 0.9 * waits);
    EXPECT_GE(woken_rightly, 0.95 * woken);
  } else {
    EXPECT_GE(long_named, 0.8 * long_waits);
  }
}

TEST_P(WaitsChildTest, ALockThatProcessesShareIsOneAndIsHeldByTheOther) {
  ASSERT_NO_FATAL_FAILURE(Run("share", 20));
  std::map<int64_t, int> waits;  // by process
  std::set<std::string> names;
  int held = 0;
  for (const Wait& wait : shard_.thread_states->waits) {
    if (wait.kind != WaitKind::kLock || wait.is_open ||
        wait.duration_ns < 10 * kNsPerMs) {
      continue;
    }
    const int64_t pid = shard_.tracks[wait.track].pid;
    ++waits[pid];
    names.emplace(shard_.strings.Get(wait.object_name));
    if (wait.holder == model::kNoTrack) continue;
    ++held;
    EXPECT_NE(shard_.tracks[wait.holder].pid, pid);
  }
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_GE(waits.begin()->second, 3);
  EXPECT_GE(waits.rbegin()->second, 3);
  EXPECT_GE(held, 3);
  EXPECT_THAT(names, ::testing::ElementsAre("shared memory+0x28"));
}

// The word that the kernel knows lies within the barrier.
TEST_P(WaitsChildTest, ABarrierHasItsNameAlone) {
  ASSERT_NO_FATAL_FAILURE(Run("barrier", 100));
  const auto is_of_barrier = [&](const Wait& wait) {
    return shard_.strings.Get(wait.object_name) ==
           "(anonymous namespace)::g_barrier in test_waiter";
  };
  EXPECT_TRUE(std::ranges::any_of(shard_.thread_states->waits, is_of_barrier));
}

// Ctrl-Z stops the command, too, so that nobody looks meanwhile.
TEST_P(WaitsChildTest, AStopTogetherWithTheCommandIsNamed) {
  stop_ms_ = 500;
  ASSERT_NO_FATAL_FAILURE(Run("mix", 1000));
  std::set<model::TrackIndex> stopped;
  for (const Wait& wait : shard_.thread_states->waits) {
    if (wait.duration_ns < 300 * kNsPerMs) continue;
    if (shard_.strings.Get(wait.object_name) != "stopped") continue;
    EXPECT_EQ(wait.kind, WaitKind::kOther);
    stopped.insert(wait.track);
  }
  EXPECT_GE(stopped.size(),
            2u);  // main and spinner; the sleeper may have ended
}

TEST_P(WaitsChildTest, StoppedProgramsAndWaitsForThemAreNamed) {
  ASSERT_NO_FATAL_FAILURE(Run("stop", 100));
  const Wait parent = LongestOf(pid_);
  EXPECT_GE(parent.duration_ns, 90 * kNsPerMs);
  bool has_stop = false, has_child = false;
  for (const Wait& wait : shard_.thread_states->waits) {
    const model::Track& track = shard_.tracks[wait.track];
    if (wait.kind == WaitKind::kChild) {
      // The kernel wakes who waits when the child goes on, too, which may be
      // late on a busy machine.
      has_child |= wait.duration_ns >= 50 * kNsPerMs;
      EXPECT_EQ(track.pid, pid_);
      for (const Wait& other : shard_.thread_states->waits) {
        if (other.track != wait.track) {
          EXPECT_EQ(shard_.tracks[other.track].pid,
                    static_cast<int64_t>(wait.object));
        }
      }
    } else if (shard_.strings.Get(wait.object_name) == "stopped") {
      has_stop = true;
      EXPECT_EQ(wait.kind, WaitKind::kOther);
      EXPECT_NE(track.pid, pid_);
      EXPECT_GE(wait.duration_ns, 50 * kNsPerMs);
    }
  }
  EXPECT_TRUE(has_stop);
  EXPECT_TRUE(has_child);
}

// Waits of each way that ended early, by test_interrupts.cc.
std::vector<int> InterruptedWaits(const std::string& mode, int count) {
  std::ifstream file(std::string(getenv("TEST_TMPDIR")) + "/truth-" + mode +
                     ".interrupts");
  std::vector<int> interrupted;
  int waits = 0, early = 0;
  for (std::string way; file >> way >> waits >> early;) {
    EXPECT_EQ(waits, count);
    interrupted.push_back(early);
  }
  return interrupted;
}

TEST_P(WaitsChildTest, NoWaitEndsEarlyBecauseOfTheRecording) {
  program_ = "test_interrupts";
  ASSERT_NO_FATAL_FAILURE(Run("waits", 100));
  EXPECT_EQ(wait_status_, 0);
  EXPECT_EQ(InterruptedWaits("waits", 100), std::vector<int>(11, 0));
}

// The program counts what it should.
TEST_P(WaitsChildTest, WaitsThatSignalsEndEarlyAreCounted) {
  program_ = "test_interrupts";
  ASSERT_NO_FATAL_FAILURE(Run("signals", 100));
  const std::vector<int> early = InterruptedWaits("signals", 100);
  EXPECT_EQ(early.size(), 11u);
  EXPECT_TRUE(std::ranges::any_of(early, [](int n) { return n > 0; }));
}

// Of a process that runs already; its number is known at the start.
class RunningSession final : public ActivitySession {
 public:
  absl::Status Prepare(TargetSetup*) override { return absl::OkStatus(); }
  absl::Status Start(pid_t pid) override {
    session_ = off_cpu::NewOffCpuSession(StackSource::kSamplesAndLooks,
                                         RunningTarget{.pids = {pid}});
    KYMO_RETURN_IF_ERROR(session_->Prepare(nullptr));
    return session_->Start(pid);
  }
  void Poll() override { session_->Poll(); }
  absl::Status Stop() override { return session_->Stop(); }
  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    return session_->Collect(shard);
  }

 private:
  std::unique_ptr<ActivitySession> session_;
};

class RunningTest : public TestWaiterRun {
 protected:
  std::unique_ptr<ActivitySession> NewSession() override {
    return std::make_unique<RunningSession>();
  }
};

// There are no hooks in it.
TEST_F(RunningTest, SamplesSeeShortWaits) {
  const auto events = sampling::PerfEvents::OpenSwitchStacks(getpid());
  if (!events.ok()) GTEST_SKIP() << "NOT TESTED HERE: " << events.status();
  ASSERT_NO_FATAL_FAILURE(Run("mix", 300));
  DurationNs sleep_ns = 0, blocked_ns = 0;
  for (const Wait& wait : shard_.thread_states->waits) {
    if (wait.kind == WaitKind::kSleep) sleep_ns += wait.duration_ns;
  }
  int64_t sleeps = 0;
  for (const Truth& truth : truth_) {
    if (truth.name != "sleeper") continue;
    sleeps = truth.counts.voluntary;
    ASSERT_NE(Find(truth.tid), nullptr);
    blocked_ns = Find(truth.tid)->blocked_ns();
  }
  // Each sleep takes a millisecond. How many there are depends on how long the
  // thread then waits for a CPU.
  EXPECT_GT(sleeps, 0);
  EXPECT_GE(blocked_ns, sleeps * kNsPerMs / 2);
  EXPECT_GE(static_cast<double>(sleep_ns),
            0.98 * static_cast<double>(blocked_ns));
}

// Nothing else sees short waits then.
TEST(RunningPollTest, WithoutSamplesLooksAreFrequent) {
  const absl::Status permitted = sampling::PerfEvents::ProbeSwitches();
  if (!permitted.ok()) GTEST_SKIP() << "NOT TESTED HERE: " << permitted;
  const pid_t pid = fork();
  if (pid == 0) {
    for (;;) pause();
  }
  const auto period_ns = [&](StackSource source) {
    const auto session =
        off_cpu::NewOffCpuSession(source, RunningTarget{.pids = {pid}});
    EXPECT_TRUE(session->Prepare(nullptr).ok());
    EXPECT_TRUE(session->Start(pid).ok());
    const DurationNs period_ns = session->PollPeriodNs();
    EXPECT_TRUE(session->Stop().ok());
    return period_ns;
  };
  EXPECT_EQ(period_ns(StackSource::kLooks), kNsPerMs);
  const auto events = sampling::PerfEvents::OpenSwitchStacks(getpid());
  if (events.ok()) {
    EXPECT_EQ(period_ns(StackSource::kSamplesAndLooks), kPollPeriodNs);
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

class TotalsTest : public TestWaiterRun {
 protected:
  void SetUp() override {}  // it needs nothing
  std::unique_ptr<ActivitySession> NewSession() override {
    return off_cpu::NewTotalsSession();
  }
};

// A look finds a thread some 5 ms after its begin, and not its end.
TEST_F(TotalsTest, WithoutPerfEventsThereAreTotals) {
  ASSERT_NO_FATAL_FAILURE(Run("mix", 500));
  const model::ThreadStates& states = *shard_.thread_states;
  EXPECT_TRUE(states.waits.empty());
  EXPECT_TRUE(states.short_waits.empty());
  ASSERT_EQ(states.threads.size(), 3u);
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kWaitsNotRecorded), 3u);
  for (const Truth& truth : truth_) {
    SCOPED_TRACE(truth.name);
    const ThreadTimes* const times = Find(truth.tid);
    ASSERT_NE(times, nullptr);
    EXPECT_GE(times->blocked_ns(), 0);
    EXPECT_LE(times->wall_ns, wall_ns_);
    DurationNs most_on_cpu_ns = truth.counts.cpu_ns;
    DurationNs most_runnable_ns = truth.counts.run_queue_ns;
    if (truth.name == "main") {
      // The session counts what it does before its exec, too.
      most_on_cpu_ns += before_.cpu_ns - at_start_.on_cpu_ns;
      most_runnable_ns += before_.run_queue_ns - at_start_.waited_ns;
    }
    // What it did then, between the two times, it has not told.
    const DurationNs rest_ns = truth.gone_ns - truth.told_ns;
    EXPECT_LE(times->on_cpu_ns, most_on_cpu_ns + rest_ns);
    EXPECT_LE(times->runnable_ns, most_runnable_ns + rest_ns);
    if (truth.name == "main") continue;
    EXPECT_EQ(NameOf(*times), truth.name);
    EXPECT_GT(times->on_cpu_ns, truth.counts.cpu_ns / 2);
    if (truth.name == "spinner") {
      EXPECT_LT(times->blocked_ns(), times->wall_ns / 2);
    } else {
      EXPECT_GT(times->voluntary_switches, 20u);
    }
  }
}

TEST_F(TotalsTest, ChildrenAreFollowed) {
  ASSERT_NO_FATAL_FAILURE(Run("fork", 300));
  ASSERT_EQ(shard_.thread_states->threads.size(), 2u);
  for (const Truth& truth : truth_) {
    const ThreadTimes* const times = Find(truth.tid);
    ASSERT_NE(times, nullptr);
    EXPECT_EQ(TrackOf(*times).pid, truth.tid);
    if (truth.name == "child") {
      EXPECT_GT(times->on_cpu_ns, truth.counts.cpu_ns / 2);
    }
  }
}

// Until its end, this process is in a control group that may use a fifth of a
// CPU.
class LimitedGroup {
 public:
  LimitedGroup() {
    for (const std::string top : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup"}) {
      const std::string folder =
          top + "/kymo-waits-test-" + std::to_string(getpid());
      if (mkdir(folder.c_str(), 0755) != 0) continue;
      if (access((folder + "/cgroup.procs").c_str(), W_OK) != 0) {
        rmdir(folder.c_str());  // no group
        continue;
      }
      top_ = top;
      folder_ = folder;
      is_limited_ = (Write(folder + "/cpu.max", "20000 100000") ||
                     Write(folder + "/cpu.cfs_quota_us", "20000")) &&
                    Write(folder + "/cgroup.procs", std::to_string(getpid()));
      return;
    }
  }
  ~LimitedGroup() {
    if (folder_.empty()) return;
    Write(top_ + "/cgroup.procs", std::to_string(getpid()));
    rmdir(folder_.c_str());
  }
  bool is_limited() const { return is_limited_; }

 private:
  static bool Write(const std::string& file, const std::string& text) {
    return !!(std::ofstream(file) << text << std::flush);
  }

  std::string top_;
  std::string folder_;
  bool is_limited_ = false;
};

// With switches, and with totals only.
class LimitTest : public TestWaiterRun,
                  public ::testing::WithParamInterface<bool> {
 protected:
  std::unique_ptr<ActivitySession> NewSession() override {
    return GetParam() ? TestWaiterRun::NewSession()
                      : off_cpu::NewTotalsSession();
  }
};

TEST_P(LimitTest, ALimitOfCpuTimeAndItsStopsAreCounted) {
  {
    const LimitedGroup group;
    if (!group.is_limited()) {
      GTEST_SKIP() << "NOT TESTED HERE: no limited cgroup can be made";
    }
    ASSERT_NO_FATAL_FAILURE(Run("mix", 500));
  }
  const model::CpuLimit& limit = shard_.thread_states->cpu_limit;
  EXPECT_EQ(limit.quota_ns, 20 * kNsPerMs);
  EXPECT_EQ(limit.period_ns, 100 * kNsPerMs);
  EXPECT_GE(limit.throttled_periods, 1u);
  EXPECT_LE(limit.throttled_periods, limit.periods);
  EXPECT_GT(limit.throttled_ns, 0);
}

INSTANTIATE_TEST_SUITE_P(Sessions, LimitTest, ::testing::Bool());

TEST(ParseThreadStatusTest, ReadsNameStateAndSwitches) {
  // proc(5)
  const auto status = off_cpu::ParseThreadStatus(
      "Name:\tbash\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t17248\n"
      "voluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n");
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->name, "bash");
  EXPECT_FALSE(status->has_ended);
  EXPECT_EQ(status->voluntary_switches, 150u);
  EXPECT_EQ(status->involuntary_switches, 545u);
  EXPECT_FALSE(off_cpu::ParseThreadStatus("").has_value());
  EXPECT_FALSE(off_cpu::ParseThreadStatus("Name:\tbash\n").has_value());
}

}  // namespace
}  // namespace kymo
