// Long, because each way in which a record can be missing is a case.
#include "backends/off_cpu/thread_clock.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

namespace kymo::off_cpu {
namespace {

using model::RunQueueTime;
using model::ThreadTimes;

constexpr uint32_t kPid = 7;
constexpr uint64_t kSecond = 1'000'000'000;

class ThreadClockTest : public ::testing::Test {
 protected:
  void In(uint32_t tid, uint64_t time_ns) {
    clock_.OnSwitch({.pid = kPid, .tid = tid, .time_ns = time_ns});
  }
  void Block(uint32_t tid, uint64_t time_ns) {
    clock_.OnSwitch(
        {.pid = kPid, .tid = tid, .is_out = true, .time_ns = time_ns});
  }
  void Preempt(uint32_t tid, uint64_t time_ns) {
    clock_.OnSwitch({.pid = kPid,
                     .tid = tid,
                     .is_out = true,
                     .is_runnable = true,
                     .time_ns = time_ns});
  }
  // Of thread `tid`, which has ended.
  ThreadTimes TimesOf(uint32_t tid, uint32_t pid = kPid) {
    const auto found = clock_.times().find({pid, tid});
    return found == clock_.times().end() ? ThreadTimes{.wall_ns = -1}
                                         : found->second;
  }

  ThreadClock clock_;
};

TEST_F(ThreadClockTest, StatesAddUpToTheLifeOfAThread) {
  clock_.OnExec(kPid, 7, 100);
  Block(7, 110);  // on CPU: 10
  clock_.OnFork(kPid, 8, 120);
  In(8, 125);       // runnable: 5
  In(7, 130);       // blocked: 20
  Preempt(7, 160);  // on CPU: 30
  In(7, 200);       // runnable: 40
  Block(8, 210);    // on CPU: 85
  clock_.OnExit(8, 210);
  clock_.OnExit(7, 250);  // on CPU: 50
  EXPECT_EQ(TimesOf(7), (ThreadTimes{.wall_ns = 150,
                                     .on_cpu_ns = 90,
                                     .runnable_ns = 40,
                                     .voluntary_switches = 1,
                                     .involuntary_switches = 1,
                                     .begin_ns = 100,
                                     .end_ns = 250}));
  EXPECT_EQ(TimesOf(7).blocked_ns(), 20);
  EXPECT_EQ(TimesOf(8), (ThreadTimes{.wall_ns = 90,
                                     .on_cpu_ns = 85,
                                     .runnable_ns = 5,
                                     .voluntary_switches = 1,
                                     .begin_ns = 120,
                                     .end_ns = 210}));
}

TEST_F(ThreadClockTest, AWaitThatNobodyEndsIsKeptAndMarked) {
  clock_.OnExec(kPid, 7, 0);
  Block(7, 10);
  clock_.OnFork(kPid, 8, 10);
  clock_.End(50);
  EXPECT_EQ(TimesOf(7).open_wait_ns, 40);
  EXPECT_EQ(TimesOf(7).blocked_ns(), 40);
  // It never got a CPU, but nothing kept it from running.
  EXPECT_EQ(TimesOf(8).runnable_ns, 40);
  EXPECT_EQ(TimesOf(8).open_wait_ns, 0);
}

// A thread cannot get a CPU twice, nor leave one that it does not have.
TEST_F(ThreadClockTest, TimeBetweenRecordsThatContradictEachOtherIsUnknown) {
  clock_.OnExec(kPid, 7, 0);
  In(7, 10);
  Block(7, 30);
  Block(7, 70);
  In(7, 80);
  clock_.OnExit(7, 81);
  EXPECT_EQ(TimesOf(7).unknown_ns, 10 + 40);
  EXPECT_EQ(TimesOf(7).on_cpu_ns, 20 + 1);
  EXPECT_EQ(TimesOf(7).blocked_ns(), 10);
  EXPECT_EQ(TimesOf(7).wall_ns, 81);
}

// Two of its records are missing, and the others look well.
TEST_F(ThreadClockTest, AStateThatBeganBeforeALossIsUnknown) {
  clock_.OnExec(kPid, 7, 0);
  clock_.OnFork(kPid, 8, 0);
  In(8, 5);
  clock_.OnLost(20);
  Block(7, 30);  // unknown: 30
  In(7, 50);     // blocked: 20
  clock_.OnExit(7, 60);
  clock_.End(100);
  EXPECT_EQ(TimesOf(7), (ThreadTimes{.wall_ns = 60,
                                     .on_cpu_ns = 10,
                                     .unknown_ns = 30,
                                     .voluntary_switches = 1,
                                     .end_ns = 60}));
  EXPECT_EQ(TimesOf(8).runnable_ns, 5);
  EXPECT_EQ(TimesOf(8).on_cpu_ns, 0);
  EXPECT_EQ(TimesOf(8).unknown_ns, 95);
}

TEST_F(ThreadClockTest, AStateWhoseEndWasLostIsUnknown) {
  clock_.OnExec(kPid, 7, 0);
  clock_.OnFork(kPid, 8, 0);
  In(8, 10);
  clock_.OnFork(kPid, 8, 50);  // another thread of that number
  In(8, 60);
  Block(7, 70);
  clock_.OnEndLost(7);
  clock_.End(100);
  EXPECT_EQ(TimesOf(8).unknown_ns, 40);
  EXPECT_EQ(TimesOf(8).on_cpu_ns, 40);
  EXPECT_EQ(TimesOf(8).runnable_ns, 20);
  EXPECT_EQ(TimesOf(7).unknown_ns, 30);
  EXPECT_EQ(TimesOf(7).open_wait_ns, 0);
}

// The list of threads has some whose last record is older than the start.
TEST_F(ThreadClockTest, AThreadThatEndedAtTheStartHasNoTimes) {
  clock_.OnExisting(kPid, 7, 10, true);
  clock_.OnExisting(kPid, 8, 10, false);
  clock_.OnExisting(kPid, 9, 10, false);
  clock_.OnFork(kPid, 8, 30);  // another thread of that number
  In(9, 40);
  for (const uint32_t tid : {7, 9}) clock_.OnEndLost(tid);
  clock_.End(100);
  EXPECT_EQ(TimesOf(7).wall_ns, -1);
  EXPECT_EQ(
      TimesOf(8),
      (ThreadTimes{
          .wall_ns = 70, .runnable_ns = 70, .begin_ns = 30, .end_ns = 100}));
  EXPECT_EQ(TimesOf(9).unknown_ns, 60);
}

TEST_F(ThreadClockTest, WhereRecordsWereLostItMayHaveLivedOn) {
  clock_.OnExisting(kPid, 7, 10, true);
  clock_.OnLost(50);
  clock_.OnEndLost(7);
  clock_.End(100);
  EXPECT_EQ(TimesOf(7).unknown_ns, 90);
}

// schedstat does not tell how much of its time was waited while nobody knew.
TEST_F(ThreadClockTest, UnknownTimeMayHaveBeenInTheRunQueue) {
  clock_.OnExec(kPid, 7, 0);
  clock_.OnLost(30);
  Block(7, 40);
  In(7, 100);
  clock_.OnRunQueue(7, 50, 100);
  clock_.OnExit(7, 100);
  EXPECT_EQ(TimesOf(7).unknown_ns, 40);
  EXPECT_EQ(TimesOf(7).runnable_ns, 10);
  EXPECT_EQ(TimesOf(7).blocked_ns(), 50);
}

TEST_F(ThreadClockTest, RecordsThatComeTooLateLeaveTheStateUnknown) {
  clock_.OnExec(kPid, 7, 100);
  Block(7, 110);
  In(7, 105);
  In(7, 150);
  clock_.OnExit(7, 170);
  EXPECT_EQ(TimesOf(7), (ThreadTimes{.wall_ns = 70,
                                     .on_cpu_ns = 10 + 20,
                                     .unknown_ns = 40,
                                     .voluntary_switches = 1,
                                     .begin_ns = 100,
                                     .end_ns = 170}));
}

TEST_F(ThreadClockTest, RecordsThatComeTooLateBringNoThreadBack) {
  clock_.OnFork(kPid, 8, 50);
  In(8, 60);
  clock_.OnExit(8, 100);
  Block(8, 90);
  clock_.End(200);
  EXPECT_EQ(TimesOf(8).wall_ns, 50);
}

// The records of its beginning, or of the end of another one of that number.
TEST_F(ThreadClockTest, RecordsThatComeTooLateEndNoThread) {
  In(8, 60);
  clock_.OnFork(kPid, 8, 50);
  clock_.OnExit(8, 40);
  Block(8, 70);
  clock_.End(100);
  EXPECT_EQ(TimesOf(8), (ThreadTimes{.wall_ns = 40,
                                     .on_cpu_ns = 10,
                                     .open_wait_ns = 30,
                                     .voluntary_switches = 1,
                                     .begin_ns = 60,
                                     .end_ns = 100}));
}

TEST_F(ThreadClockTest, AThreadWhoseBeginningWasLostBeginsWithItsFirstSwitch) {
  In(9, 100);
  Block(9, 130);
  In(9, 190);
  clock_.OnExit(9, 200);
  EXPECT_EQ(TimesOf(9).wall_ns, 100);
  EXPECT_EQ(TimesOf(9).on_cpu_ns, 40);
  EXPECT_EQ(TimesOf(9).blocked_ns(), 60);
}

// execve(2) ends the other threads. They may have been blocked.
TEST_F(ThreadClockTest, AnExecEndsTheOtherThreadsOfItsProcess) {
  clock_.OnExec(kPid, 7, 0);
  clock_.OnFork(kPid, 8, 0);
  clock_.OnFork(99, 99, 0);
  clock_.OnExec(kPid, 7, 40);
  EXPECT_EQ(TimesOf(8).wall_ns, 40);
  EXPECT_EQ(TimesOf(99, 99).wall_ns, -1) << "has ended";
  clock_.End(100);
  EXPECT_EQ(TimesOf(7).wall_ns, 100);
  EXPECT_EQ(TimesOf(99, 99).wall_ns, 100);
}

// It takes over the number of the main thread, but not its counts.
TEST_F(ThreadClockTest, AnExecOfAnotherThreadBeginsANewLife) {
  EXPECT_TRUE(clock_.OnExec(kPid, 7, 0));
  clock_.OnRunQueueBefore(7, 1);
  EXPECT_FALSE(clock_.OnExec(kPid, 7, 10)) << "the same thread goes on";
  clock_.OnFork(kPid, 8, 10);
  In(8, 10);
  Block(7, 20);
  clock_.OnExit(7, 30);
  EXPECT_TRUE(clock_.OnExec(kPid, 7, 40));
  clock_.OnRunQueueBefore(7, 1'000);  // of thread 8
  Block(7, 50);
  In(7, 100);
  clock_.OnRunQueue(7, 1'020, 100);
  clock_.End(100);
  EXPECT_EQ(TimesOf(8).wall_ns, 30);
  EXPECT_EQ(TimesOf(7).wall_ns, 30 + 60);
  EXPECT_EQ(TimesOf(7).runnable_ns, 20);
  EXPECT_EQ(TimesOf(7).blocked_ns(), 10 + 30);
}

TEST_F(ThreadClockTest, LivesOfOneNumberAddUp) {
  for (const uint64_t start_ns : {0, 100}) {
    clock_.OnFork(kPid, 8, start_ns);
    In(8, start_ns + 10);
    clock_.OnExit(8, start_ns + 30);
  }
  EXPECT_EQ(TimesOf(8).wall_ns, 60);
  EXPECT_EQ(TimesOf(8).on_cpu_ns, 40);
  EXPECT_EQ(TimesOf(8).runnable_ns, 20);
}

TEST_F(ThreadClockTest, BlockedThreadsAreToldOnceAndNotTooEarly) {
  for (const uint32_t tid : {7, 8, 9}) {
    clock_.OnFork(kPid, tid, 0);
    In(tid, 5);
    Block(tid, 10 * tid);
  }
  // The others stay in the list.
  auto blocked = clock_.NextBlocked(/*latest_ns=*/75);
  ASSERT_TRUE(blocked.has_value());
  EXPECT_EQ(blocked->thread, (ThreadKey{kPid, 7}));
  EXPECT_EQ(blocked->since_ns, 70u);
  EXPECT_FALSE(clock_.NextBlocked(75).has_value());
  EXPECT_EQ(clock_.BlockedSince(8), 80u);
  In(8, 100);
  EXPECT_FALSE(clock_.BlockedSince(8).has_value());
  blocked = clock_.NextBlocked(100);
  ASSERT_TRUE(blocked.has_value());
  EXPECT_EQ(blocked->thread.tid, 9u);
  Block(8, 110);  // a new wait
  EXPECT_FALSE(clock_.NextBlocked(100).has_value());
  blocked = clock_.NextBlocked(110);
  ASSERT_TRUE(blocked.has_value());
  EXPECT_EQ(blocked->since_ns, 110u);
  EXPECT_FALSE(clock_.NextBlocked(1'000).has_value());
}

// The records do not tell how long a thread waited after it was woken.
TEST_F(ThreadClockTest, TheRunQueueTakesItsTimeFromWhatSeemsBlocked) {
  for (const uint32_t tid : {7, 8, 9, 11}) {
    clock_.OnFork(kPid, tid, 0);
    In(tid, 0);
    Block(tid, 10);
    In(tid, 50);
    Preempt(tid, 60);
    In(tid, 65);
    Block(tid, 70);
  }
  clock_.OnRunQueue(7, 30, 70);
  clock_.OnRunQueue(8, 3, 100);     // when the recording ends
  clock_.OnRunQueue(9, 1'000, 70);  // more than it can be
  clock_.OnRunQueue(10, 1, 70);     // has ended
  In(7, 100);
  clock_.OnExit(7, 100);
  clock_.OnRunQueue(11, 20, 101);  // nobody has waited for it yet
  clock_.OnExit(11, 100);
  clock_.End(100);
  EXPECT_EQ(TimesOf(11).runnable_ns, 20);
  EXPECT_EQ(TimesOf(11).run_queue, RunQueueTime::kWhole);
  EXPECT_EQ(TimesOf(7).runnable_ns, 30);
  EXPECT_EQ(TimesOf(7).blocked_ns(), 100 - 25 - 30);
  EXPECT_EQ(TimesOf(7).run_queue, RunQueueTime::kLastKnown);
  EXPECT_EQ(TimesOf(8).runnable_ns, 5);
  EXPECT_EQ(TimesOf(8).run_queue, RunQueueTime::kWhole);
  EXPECT_EQ(TimesOf(9).runnable_ns, 45);
  EXPECT_EQ(TimesOf(9).run_queue, RunQueueTime::kLastKnown);
  EXPECT_EQ(TimesOf(9).blocked_ns(), 30) << "the open wait";
}

// 50 after it was woken, which only schedstat tells, then 40 after it was
// preempted, which is not in what was read before.
TEST_F(ThreadClockTest, WaitsAfterTheRunQueueWasReadAddToIt) {
  clock_.OnExec(kPid, 7, 0);
  Block(7, 10);
  In(7, 60);
  clock_.OnRunQueue(7, 50, 70);
  Preempt(7, 80);
  In(7, 120);
  clock_.OnExit(7, 130);
  EXPECT_EQ(TimesOf(7).runnable_ns, 90);
  EXPECT_EQ(TimesOf(7).blocked_ns(), 0);
}

// The collector reads the records later than schedstat.
TEST_F(ThreadClockTest, WaitsThatEndedBeforeTheRunQueueWasReadCountOnce) {
  clock_.OnExec(kPid, 7, 0);
  Block(7, 10);
  In(7, 100);
  Preempt(7, 110);
  clock_.OnRunQueue(7, 30, 150);
  In(7, 140);  // 30, in what was read
  Preempt(7, 145);
  In(7, 160);  // 15, not in it: it went on
  clock_.OnExit(7, 200);
  EXPECT_EQ(TimesOf(7).runnable_ns, 45);
  EXPECT_EQ(TimesOf(7).blocked_ns(), 90);
}

// Each of its switches takes 3, which no record shows.
TEST_F(ThreadClockTest, ASwitchTakesTimeThatOnlyTheKernelCounts) {
  clock_.OnFork(kPid, 7, 0);
  In(7, 0);
  Block(7, 10);
  In(7, 100);
  Block(7, 110);
  clock_.OnCpuTime(7, 26, 120, 130);
  In(7, 200);
  Block(7, 210);
  In(7, 300);
  Block(7, 310);
  clock_.OnExit(7, 400);
  EXPECT_EQ(TimesOf(7).on_cpu_ns, 40 + 4 * 3);
  EXPECT_EQ(TimesOf(7).blocked_ns(), 400 - 52);
}

// Something else took the time, such as an interrupt: the next switches need
// not take as long.
TEST_F(ThreadClockTest, OneSlowSwitchSaysLittleOfTheOthers) {
  clock_.OnFork(kPid, 7, 0);
  In(7, 0);
  Block(7, 10);
  constexpr uint64_t kMs = 1'000'000;
  clock_.OnCpuTime(7, 10 + kMs, 2 * kMs, 3 * kMs);
  uint64_t at_ns = 10 * kMs;
  for (int i = 0; i < 100; ++i, at_ns += kMs) {
    In(7, at_ns);
    Block(7, at_ns + 10);
  }
  clock_.OnExit(7, at_ns);
  EXPECT_EQ(TimesOf(7).on_cpu_ns, 101 * 10 + DurationNs{kMs} + 100 * 15'000);
}

// What the kernel had counted before the program began does not matter.
TEST_F(ThreadClockTest, OnlySwitchesOfTheRecordingTakeTime) {
  clock_.OnExec(kPid, 7, 0);
  Block(7, 10);
  clock_.OnCpuTime(7, 1'000, 20, 30);
  for (uint64_t begin_ns : {100, 200}) {
    In(7, begin_ns);
    Block(7, begin_ns + 10);
  }
  clock_.OnCpuTime(7, 1'026, 220, 230);
  clock_.End(400);
  EXPECT_EQ(TimesOf(7).on_cpu_ns, 30 + 3 * 3);
}

// It ran meanwhile, so the kernel's time is of an unknown instant.
TEST_F(ThreadClockTest, TheKernelsTimeOfAThreadThatRanMeanwhileDoesNotCount) {
  constexpr uint64_t kUs = 1'000;
  for (const uint32_t tid : {7, 8}) {
    clock_.OnFork(kPid, tid, 0);
    In(tid, 100 * kUs);
    Block(tid, 200 * kUs);
    // One was on its CPU for long, and the other got there.
    clock_.OnCpuTime(tid, 500 * kUs, (tid == 7 ? 190 : 250) * kUs,
                     (tid == 7 ? 210 : 400) * kUs);
    In(tid, 300 * kUs);
    Block(tid, 400 * kUs);
    clock_.OnExit(tid, 1000 * kUs);
    EXPECT_EQ(TimesOf(tid).on_cpu_ns, DurationNs{200 * kUs}) << tid;
  }
}

// In threads that switch all the time, a reading always falls into some switch.
TEST_F(ThreadClockTest, AShortTimeOfDoubtDoesNotMatter) {
  constexpr uint64_t kUs = 1'000;
  for (const uint32_t tid : {7, 8}) {
    clock_.OnFork(kPid, tid, 0);
    uint64_t at_ns = 0;
    for (int i = 0; i < 100; ++i, at_ns += 20 * kUs) {
      if (i == 49) {  // records come later than what is read
        // On its CPU, and off it; 3 us of each switch are hidden.
        const uint64_t read_ns = at_ns + (tid == 7 ? 5 : 15) * kUs;
        clock_.OnCpuTime(tid, (tid == 7 ? 49 : 50) * 13 * kUs, read_ns,
                         read_ns + 8 * kUs);
      }
      In(tid, at_ns);
      Block(tid, at_ns + 10 * kUs);
    }
    clock_.OnExit(tid, at_ns);
    EXPECT_NEAR(static_cast<double>(TimesOf(tid).on_cpu_ns), 1'300e3, 5e3);
  }
}

// The kernel counted what the thread did in its unknown time, too.
TEST_F(ThreadClockTest, UnknownTimeIsNotTakenForThatOfSwitches) {
  clock_.OnFork(kPid, 7, 0);
  In(7, 10);
  clock_.OnLost(15);
  Block(7, 20);
  clock_.OnCpuTime(7, 50, 25, 27);
  clock_.OnExit(7, 100);
  EXPECT_EQ(TimesOf(7).unknown_ns, 10);
  EXPECT_EQ(TimesOf(7).on_cpu_ns, 0);
}

TEST_F(ThreadClockTest, NoThreadRanForLongerThanItDidNotWait) {
  clock_.OnFork(kPid, 7, 0);
  In(7, 20);  // 20 in the run queue
  Block(7, 30);
  clock_.OnCpuTime(7, 1'000, 40, 50);
  In(7, 100);
  clock_.OnExit(7, 110);
  EXPECT_EQ(TimesOf(7).on_cpu_ns, 90);
  EXPECT_EQ(TimesOf(7).blocked_ns(), 0);
}

// Each switch takes 3 us more than its records show, and each sleep ends with
// 2 us in the run queue. Nobody reads the thread before its end.
TEST_F(ThreadClockTest, WhatAThreadTellsAtItsEndIsExact) {
  constexpr uint64_t kUs = 1'000;
  for (const bool blocks_again : {false, true}) {
    const uint32_t tid = blocks_again ? 8 : 7;
    clock_.OnFork(kPid, tid, 0);
    In(tid, 0);
    uint64_t at_ns = 0;
    for (int i = 0; i < 10; ++i) {
      Block(tid, at_ns + 10 * kUs);
      at_ns += 100 * kUs;
      if (i == 9) {
        // It is noted before the records are read.
        clock_.OnLastCounts(tid, (100 + 5 + 10 * 3) * kUs, 20 * kUs,
                            {.has_faults = true, .minor_faults = 3},
                            at_ns + 5 * kUs);
        clock_.OnCpuTime(tid, 1, at_ns + 6 * kUs, at_ns + 7 * kUs);
      }
      In(tid, at_ns);
    }
    if (blocks_again) {
      Block(tid, at_ns + 6 * kUs);
      In(tid, at_ns + 7 * kUs);
    }
    Preempt(tid, at_ns + 8 * kUs);
    In(tid, at_ns + 12 * kUs);
    clock_.OnExit(tid, at_ns + 14 * kUs);
    const ThreadTimes times = TimesOf(tid);
    EXPECT_EQ(times.runnable_ns, DurationNs{24 * kUs});
    EXPECT_EQ(times.run_queue,
              blocks_again ? RunQueueTime::kLastKnown : RunQueueTime::kWhole);
    EXPECT_EQ(times.counts.minor_faults, 3u);
    if (blocks_again) continue;  // some more switches
    EXPECT_EQ(times.on_cpu_ns, DurationNs{(100 + 10 + 11 * 3) * kUs});
  }
}

// Of its time without a CPU, switches took a part.
TEST_F(ThreadClockTest, WhatAThreadTellsOfItsPreemptionsIsExact) {
  clock_.OnFork(kPid, 7, 0);
  In(7, 0);
  Preempt(7, 100);
  In(7, 200);
  clock_.OnLastCounts(7, 100 + 8 + 50, 92, {}, 250);
  clock_.OnExit(7, 260);
  EXPECT_EQ(TimesOf(7).on_cpu_ns, 160 + 8);
  EXPECT_EQ(TimesOf(7).runnable_ns, 92);
  EXPECT_EQ(TimesOf(7).blocked_ns(), 0);
}

// Lost records leave intervals unknown, but not totals.
TEST_F(ThreadClockTest, WhatAThreadTellsAtItsEndLeavesNoTimeUnknown) {
  clock_.OnFork(kPid, 7, 0);
  In(7, 10);
  clock_.OnLost(15);
  Block(7, 20);
  In(7, 60);
  clock_.OnLastCounts(7, 30, 25, {}, 80);
  clock_.OnExit(7, 90);
  EXPECT_EQ(TimesOf(7).unknown_ns, 0);
  EXPECT_EQ(TimesOf(7).on_cpu_ns, 30 + 10);
  EXPECT_EQ(TimesOf(7).runnable_ns, 25);
  EXPECT_EQ(TimesOf(7).blocked_ns(), 25);
  EXPECT_EQ(TimesOf(7).run_queue, RunQueueTime::kWhole);
}

TEST_F(ThreadClockTest, TheEndOfAnEarlierThreadOfThatNumberDoesNotCount) {
  clock_.OnFork(kPid, 7, 100);
  In(7, 110);
  clock_.OnLastCounts(7, 1'000, 1'000, {}, 90);
  clock_.OnExit(7, 200);
  EXPECT_EQ(TimesOf(7).on_cpu_ns, 90);
  EXPECT_EQ(TimesOf(7).run_queue, RunQueueTime::kPreemptions);
}

TEST_F(ThreadClockTest, FewThreadsAreReadMoreOftenButNotTheirCounts) {
  clock_.OnFork(kPid, 7, 0);
  EXPECT_TRUE(clock_.NextToRead(kSecond)->counts_are_due);
  In(7, kSecond + 1);
  EXPECT_FALSE(clock_.NextToRead(kSecond + kSecond / 200).has_value());
  const auto soon = clock_.NextToRead(kSecond + kSecond / 100);
  ASSERT_TRUE(soon.has_value());
  EXPECT_FALSE(soon->counts_are_due);
  Block(7, kSecond + 2);
  EXPECT_TRUE(clock_.NextToRead(kSecond + kSecond / 10)->counts_are_due);
  for (uint32_t tid = 100; tid < 140; ++tid) clock_.OnFork(kPid, tid, kSecond);
  In(7, kSecond + 3);
  while (clock_.NextToRead(2 * kSecond)) {
  }
  Block(7, 2 * kSecond);
  EXPECT_FALSE(clock_.NextToRead(2 * kSecond + kSecond / 100).has_value());
  EXPECT_TRUE(clock_.NextToRead(2 * kSecond + kSecond / 10).has_value());
}

TEST_F(ThreadClockTest, OnlyThreadsThatRanAreReadAndNotTooOften) {
  clock_.OnFork(kPid, 7, 0);
  clock_.OnFork(kPid, 8, 0);
  std::multiset<uint32_t> read;
  const auto read_all = [&](uint64_t now_ns) {
    read.clear();
    while (const auto thread = clock_.NextToRead(now_ns)) {
      EXPECT_EQ(thread->pid, kPid);
      read.insert(thread->tid);
    }
    return read;
  };
  using Tids = std::multiset<uint32_t>;
  EXPECT_EQ(read_all(kSecond), (Tids{7, 8}));
  EXPECT_EQ(read_all(kSecond), Tids{});
  In(8, kSecond + 1);
  EXPECT_EQ(read_all(kSecond + kSecond / 200), Tids{}) << "too soon";
  EXPECT_EQ(read_all(kSecond + kSecond / 2), Tids{8});
  clock_.OnExit(7, 2 * kSecond);
  clock_.OnExit(8, 2 * kSecond);
  EXPECT_EQ(read_all(9 * kSecond), Tids{});
}

TEST(ThreadClockLimitTest, ThreadsBeyondTheLimitAreCounted) {
  ThreadClock clock(2);
  EXPECT_TRUE(clock.OnFork(kPid, 1, 0));
  EXPECT_TRUE(clock.OnFork(kPid, 2, 0));
  clock.OnExit(2, 10);
  EXPECT_FALSE(clock.OnFork(kPid, 3, 10));
  EXPECT_FALSE(clock.OnFork(kPid, 4, 10));
  clock.OnSwitch({.pid = kPid, .tid = 3, .time_ns = 20});
  clock.End(30);
  EXPECT_EQ(clock.times().size(), 2u);
  EXPECT_EQ(clock.threads_not_timed(), 2u);
}

// The guess is what /proc said, some time after the recording began.
TEST_F(ThreadClockTest, TheFirstRecordSaysWhatAnExistingThreadDid) {
  for (const bool seems_to_run : {false, true}) {
    ThreadClock clock;
    clock.OnExisting(kPid, 1, 100, seems_to_run);
    clock.OnExisting(kPid, 2, 100, seems_to_run);
    clock.OnExisting(kPid, 3, 100, seems_to_run);
    clock.OnSwitch({.pid = kPid, .tid = 1, .is_out = true, .time_ns = 110});
    clock.OnSwitch({.pid = kPid, .tid = 2, .time_ns = 130});
    clock.End(150);
    const auto& times = clock.times();
    EXPECT_EQ(times.at({kPid, 1}), (ThreadTimes{.wall_ns = 50,
                                                .on_cpu_ns = 10,
                                                .open_wait_ns = 40,
                                                .voluntary_switches = 1,
                                                .begin_ns = 100,
                                                .end_ns = 150}));
    EXPECT_EQ(times.at({kPid, 2}),
              (ThreadTimes{.wall_ns = 50,
                           .on_cpu_ns = 20,
                           .runnable_ns = seems_to_run ? 30 : 0,
                           .begin_ns = 100,
                           .end_ns = 150}));
    EXPECT_EQ(times.at({kPid, 3}),
              (ThreadTimes{.wall_ns = 50,
                           .on_cpu_ns = seems_to_run ? 50 : 0,
                           .open_wait_ns = seems_to_run ? 0 : 50,
                           .begin_ns = 100,
                           .end_ns = 150}));
  }
}

TEST_F(ThreadClockTest, AThreadThatBeganWhileThreadsWereListedBeginsOnce) {
  clock_.OnExisting(kPid, 8, 100, /*seems_to_run=*/true);
  clock_.OnFork(kPid, 8, 120);
  In(8, 125);
  clock_.End(150);
  EXPECT_EQ(TimesOf(8).on_cpu_ns, 25);
  EXPECT_EQ(TimesOf(8).runnable_ns, 5);
  EXPECT_EQ(TimesOf(8).begin_ns, 120);
}

// It may be runnable only, beside others of higher priority. Then the kernel
// counts no time on a CPU for it.
TEST_F(ThreadClockTest, AThreadThatSeemsToRunMayWaitForACpuAllTheTime) {
  constexpr uint64_t kBegin = 100;
  constexpr uint64_t kEnd = kBegin + 50'000'000;
  for (const uint32_t tid : {7, 8, 9}) {
    clock_.OnExisting(kPid, tid, kBegin, /*seems_to_run=*/true);
    clock_.OnCpuTimeBefore(tid, 1'000);
  }
  clock_.OnCpuTime(7, 1'000, kEnd, kEnd);
  clock_.OnCpuTime(8, 1'001, kEnd, kEnd);
  // Its counts cannot be read any more.
  clock_.End(kEnd);
  EXPECT_EQ(TimesOf(7).runnable_ns, 50'000'000);
  EXPECT_EQ(TimesOf(7).on_cpu_ns, 0);
  for (const uint32_t tid : {8, 9}) {
    EXPECT_EQ(TimesOf(tid).runnable_ns, 0);
    EXPECT_EQ(TimesOf(tid).on_cpu_ns, 50'000'000);
  }
}

// A tick may not have come yet.
TEST_F(ThreadClockTest, AShortTimeWithoutCountsIsTimeOnACpu) {
  clock_.OnExisting(kPid, 7, 100, /*seems_to_run=*/true);
  clock_.OnCpuTimeBefore(7, 1'000);
  clock_.OnCpuTime(7, 1'000, 5'000'000, 5'000'000);
  clock_.End(5'000'100);
  EXPECT_EQ(TimesOf(7).on_cpu_ns, 5'000'000);
}

// The kernel counts for the thread, the recording for a part of its life.
TEST(ThreadClockCountsTest, CountsAreThoseSinceTheBegin) {
  ThreadClock clock;
  clock.OnExisting(7, 8, 10, /*seems_to_run=*/true);
  clock.OnCountsBefore(8, {.has_faults = true,
                           .minor_faults = 100,
                           .has_io = true,
                           .read_calls = 5});
  clock.OnCounts(8, {.has_faults = true,
                     .minor_faults = 130,
                     .has_io = true,
                     .read_calls = 9});
  // The thread's files say no more.
  clock.OnCounts(8, {});
  clock.OnExit(8, 20);
  const model::ThreadCounts counts = clock.times().at({7, 8}).counts;
  EXPECT_EQ(counts, (model::ThreadCounts{.has_faults = true,
                                         .minor_faults = 30,
                                         .has_io = true,
                                         .read_calls = 4}));
}

}  // namespace
}  // namespace kymo::off_cpu
