#include "profiler/analysis/wake_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "profiler/model/thread_states.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::kNoTrack;
using model::Trace;
using model::TrackIndex;
using model::Wait;
using model::WaitKind;
using ::testing::ElementsAre;

model::ThreadTimes Life(TrackIndex track, TimeNs begin_ns, TimeNs end_ns,
                        TrackIndex creator = kNoTrack) {
  return {.track = track,
          .wall_ns = end_ns - begin_ns,
          .begin_ns = begin_ns,
          .end_ns = end_ns,
          .creator = creator};
}

Wait At(TrackIndex track, WaitKind kind, TimeNs begin_ns, TimeNs end_ns,
        DurationNs runnable_ns = -1, TrackIndex waker = kNoTrack) {
  return {.track = track,
          .kind = kind,
          .begin_ns = begin_ns,
          .duration_ns = end_ns - begin_ns,
          .runnable_ns = runnable_ns,
          .waker = waker};
}

// "thread cause begin-end" of each step.
std::vector<std::string> Path(TestTrace t) {
  const Trace trace = std::move(t).Build();
  EXPECT_EQ(model::ValidateTrace(trace), absl::OkStatus());
  std::vector<std::string> texts;
  if (!HasWakePath(trace)) return texts;
  for (const WakeStep& step : FindWakePath(trace)) {
    std::string cause = "on CPU";
    if (step.cause == WakeCause::kRunnable) cause = "runnable";
    if (step.cause == WakeCause::kBlocked) cause = NameOf(step.wait->kind);
    texts.push_back(std::string(trace.Name(trace.tracks()[step.track].name)) +
                    " " + cause + " " + std::to_string(step.start_ns) + "-" +
                    std::to_string(step.end_ns));
  }
  return texts;
}

// Main makes two threads and joins both. The slow one held up the end.
TEST(WakePathTest, GoesOnWithTheThreadThatEndedTheWait) {
  TestTrace t;
  t.SetWindow(0, 1'000);
  const auto main = t.AddThread(1, 1, "main");
  const auto fast = t.AddThread(1, 2, "fast");
  const auto slow = t.AddThread(1, 3, "slow");
  t.SetThreadTimes({Life(main, 10, 1'000), Life(fast, 100, 400, main),
                    Life(slow, 110, 905, main)});
  t.AddWait(At(main, WaitKind::kCondition, 120, 390, 10, fast));
  t.AddWait(At(main, WaitKind::kCondition, 395, 920, 20, slow));
  t.AddWait(At(slow, WaitKind::kSleep, 200, 300, 5));
  t.AddWait(At(slow, WaitKind::kCpuBusy, 500, 550, 50));
  EXPECT_THAT(Path(std::move(t)),
              ElementsAre("main on CPU 10-110", "slow on CPU 110-200",
                          "slow sleep 200-295", "slow runnable 295-300",
                          "slow on CPU 300-500", "slow runnable 500-550",
                          "slow on CPU 550-900", "main runnable 900-920",
                          "main on CPU 920-1000"));
}

// Nobody saw who gave the lock back, but who held it.
TEST(WakePathTest, TheTimeOfALockIsItsHoldersIfNobodySawTheWake) {
  TestTrace t;
  t.SetWindow(0, 1'000);
  const auto main = t.AddThread(1, 1, "main");
  const auto holder = t.AddThread(1, 2, "holder");
  t.SetThreadTimes({Life(main, 0, 1'000), Life(holder, 50, 990, main)});
  Wait lock = At(main, WaitKind::kLock, 300, 800);
  lock.holder = holder;
  t.AddWait(lock);
  t.AddWait(At(holder, WaitKind::kRead, 400, 700));
  EXPECT_THAT(Path(std::move(t)),
              ElementsAre("main on CPU 0-50", "holder on CPU 50-400",
                          "holder read 400-700", "holder on CPU 700-800",
                          "main on CPU 800-1000"));
}

// Two threads that hand over: each time is that of the one that worked.
TEST(WakePathTest, FollowsHandOversFromThreadToThread) {
  TestTrace t;
  t.SetWindow(0, 100);
  const auto a = t.AddThread(1, 1, "a");
  const auto b = t.AddThread(1, 2, "b");
  t.SetThreadTimes({Life(a, 0, 100), Life(b, 5, 95, a)});
  t.AddWait(At(a, WaitKind::kNetwork, 20, 40, 0, b));
  t.AddWait(At(a, WaitKind::kNetwork, 60, 90, 0, b));
  t.AddWait(At(b, WaitKind::kNetwork, 10, 20, 0, a));
  t.AddWait(At(b, WaitKind::kNetwork, 40, 60, 0, a));
  EXPECT_THAT(Path(std::move(t)),
              ElementsAre("a on CPU 0-20", "b on CPU 20-40", "a on CPU 40-60",
                          "b on CPU 60-90", "a on CPU 90-100"));
}

// A shell that waits for any of its children, then for one of them.
TEST(WakePathTest, AProcessWaitsForTheChildThatEndedLast) {
  TestTrace t;
  t.SetWindow(0, 1'000);
  const auto shell = t.AddThread(1, 1, "shell");
  const auto first = t.AddThread(2, 2, "first");
  const auto second = t.AddThread(3, 3, "second");
  const auto third = t.AddThread(4, 4, "third");
  const auto other = t.AddThread(5, 5, "other");
  t.SetThreadTimes({Life(shell, 0, 1'000), Life(first, 10, 300, shell),
                    Life(second, 20, 490, shell), Life(third, 510, 800, shell),
                    Life(other, 505, 805, shell)});
  t.AddWait(At(shell, WaitKind::kChild, 30, 500, 8));
  Wait one = At(shell, WaitKind::kChild, 600, 900, 90);
  one.object = 4;
  t.AddWait(one);
  EXPECT_THAT(Path(std::move(t)),
              ElementsAre("shell on CPU 0-20", "second on CPU 20-490",
                          "shell child 490-492", "shell runnable 492-500",
                          "shell on CPU 500-510", "third on CPU 510-800",
                          "shell child 800-810", "shell runnable 810-900",
                          "shell on CPU 900-1000"));
}

// As make does with several jobs. Where wakes are not recorded, it could be
// anything.
TEST(WakePathTest, ThePollThatNobodyEndedWasEndedByAChild) {
  const auto path = [](DurationNs runnable_ns) {
    TestTrace t;
    t.SetWindow(0, 1'000);
    const auto make = t.AddThread(1, 1, "make");
    const auto job = t.AddThread(2, 2, "job");
    t.SetThreadTimes({Life(make, 0, 1'000), Life(job, 10, 490, make)});
    t.AddWait(At(make, WaitKind::kPoll, 100, 500));
    t.AddWait(At(job, WaitKind::kRead, 200, 300, runnable_ns));
    return Path(std::move(t));
  };
  EXPECT_THAT(path(0),
              ElementsAre("make on CPU 0-10", "job on CPU 10-200",
                          "job read 200-300", "job on CPU 300-490",
                          "make poll 490-500", "make on CPU 500-1000"));
  EXPECT_THAT(path(-1), ElementsAre("make on CPU 0-100", "make poll 100-500",
                                    "make on CPU 500-1000"));
}

// Nobody sees whom a thread wakes at its end. The wait for a condition in the
// same function is none for a thread.
TEST(WakePathTest, AJoinWaitsForTheThreadThatEndedLast) {
  TestTrace t;
  t.SetWindow(0, 1'000);
  const auto main = t.AddThread(1, 1, "main");
  const auto first = t.AddThread(1, 2, "first");
  const auto second = t.AddThread(1, 3, "second");
  t.SetThreadTimes({Life(main, 0, 1'000), Life(first, 10, 350, main),
                    Life(second, 20, 590, main)});
  t.AddWait(At(main, WaitKind::kCondition, 300, 400), {"main", "Join"});
  t.AddWait(At(main, WaitKind::kCondition, 500, 600),
            {"main", "Join", "std::thread::join()", "__pthread_clockjoin_ex"});
  t.AddWait(At(second, WaitKind::kSleep, 100, 200));
  EXPECT_THAT(Path(std::move(t)),
              ElementsAre("main on CPU 0-20", "second on CPU 20-100",
                          "second sleep 100-200", "second on CPU 200-590",
                          "main condition 590-600", "main on CPU 600-1000"));
}

// It was there before the recording, which does not tell who made it.
TEST(WakePathTest, AThreadWithoutACreatorMayBeJoined) {
  TestTrace t;
  t.SetWindow(0, 1'000);
  const auto main = t.AddThread(1, 1, "main");
  const auto worker = t.AddThread(1, 2, "worker");
  t.SetThreadTimes({Life(main, 5, 1'000), Life(worker, 5, 590)});
  t.AddWait(At(main, WaitKind::kCondition, 500, 600), {"main", "pthread_join"});
  EXPECT_THAT(Path(std::move(t)),
              ElementsAre("worker on CPU 5-590", "main condition 590-600",
                          "main on CPU 600-1000"));
}

// Each says that the other one woke it, at the same time.
TEST(WakePathTest, ContradictionsEndInAWait) {
  TestTrace t;
  t.SetWindow(0, 100);
  const auto a = t.AddThread(1, 1, "a");
  const auto b = t.AddThread(1, 2, "b");
  t.SetThreadTimes({Life(a, 0, 100), Life(b, 0, 100)});
  t.AddWait(At(a, WaitKind::kCondition, 20, 80, 0, b));
  t.AddWait(At(b, WaitKind::kCondition, 30, 80, 0, a));
  EXPECT_THAT(
      Path(std::move(t)),
      ElementsAre("b on CPU 0-30", "b condition 30-80", "a on CPU 80-100"));
}

TEST(WakePathTest, BeginsWithTheThreadThatEndedLast) {
  const auto path = [](TimeNs end_of_main, DurationNs open_wait_ns) {
    TestTrace t;
    t.SetWindow(0, 1'000 * kNsPerMs);
    const auto main = t.AddThread(1, 1, "main");
    const auto worker = t.AddThread(1, 2, "worker");
    t.SetThreadTimes(
        {Life(main, 1, end_of_main), Life(worker, 1, 1'000 * kNsPerMs, main)});
    Wait wait = At(main, WaitKind::kSleep, 2, 3);
    if (open_wait_ns != 0) {
      t.data().thread_states = nullptr;
      auto states = std::make_shared<model::ThreadStates>();
      states->threads = {Life(main, 1, end_of_main),
                         Life(worker, 1, 1'000 * kNsPerMs, main)};
      states->threads[0].open_wait_ns = open_wait_ns;
      states->waits = {wait};
      t.data().thread_states = std::move(states);
    } else {
      t.AddWait(wait);
    }
    return Path(std::move(t)).back();
  };
  // A process's threads do not end at the very same time.
  EXPECT_EQ(path(990 * kNsPerMs, 0), "main on CPU 3-990000000");
  EXPECT_EQ(path(900 * kNsPerMs, 0), "worker on CPU 1-1000000000");
  EXPECT_EQ(path(1'000 * kNsPerMs, 5), "worker on CPU 1-1000000000");
}

TEST(WakePathTest, NeedsTimesOfThreadsAndNoDevice) {
  const auto make = [](bool has_times, bool has_kernel) {
    TestTrace t;
    t.SetWindow(0, 100);
    const auto main = t.AddThread(1, 1, "main");
    if (has_kernel) {
      t.AddRange(t.AddStream(0, 7, 1), "gemm", 10, 20,
                 model::ActivityType::kConcurrentKernel);
    }
    t.SetThreadTimes(has_times
                         ? std::vector<model::ThreadTimes>{Life(main, 0, 100)}
                         : std::vector<model::ThreadTimes>{{.track = main}});
    t.AddWait(At(main, WaitKind::kSleep, 20, 30));
    return HasWakePath(std::move(t).Build());
  };
  EXPECT_TRUE(make(true, false));
  EXPECT_FALSE(make(false, false));
  EXPECT_FALSE(make(true, true));
}

}  // namespace
}  // namespace kymo::analysis
