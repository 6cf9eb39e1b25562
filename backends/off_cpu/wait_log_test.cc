// Long, because each source that knows of a wait can come before the others.
#include "backends/off_cpu/wait_log.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "profiler/base/clock.h"

namespace kymo::off_cpu {
namespace {

using model::WaitKind;

constexpr WaitLimits kLimits = {.min_wait_ns = 100,
                                .most_waits = 3,
                                .most_short_waits = 0,
                                .most_sums = 2,
                                .most_names = 3};
constexpr ThreadKey kThread = {7, 8};

class WaitLogTest : public ::testing::Test {
 protected:
  void Wait(uint64_t begin_ns, uint64_t end_ns, ThreadKey thread = kThread) {
    log_.OnWait({.thread = thread, .begin_ns = begin_ns, .end_ns = end_ns});
  }
  model::ThreadStates Collect() {
    model::ThreadStates states;
    // Raw stacks 1 and 2 are stacks 5 and 6 of the shard.
    const std::vector<model::StackId> stacks = {
        model::kEmptyStack, model::StackId{5}, model::StackId{6}};
    log_.Collect([](const ThreadKey& thread) { return thread.tid; }, stacks,
                 shard_, states);
    return states;
  }

  WaitLog log_{kLimits};
  model::TraceShard shard_;
};

TEST_F(WaitLogTest, ACauseBelongsToTheWaitThatHasItsTime) {
  log_.OnCause(8, 150, {.kind = WaitKind::kSleep, .stack = 1});
  EXPECT_TRUE(log_.HasCauseSince(8, 150));
  EXPECT_FALSE(log_.HasCauseSince(8, 151));
  Wait(0, 100);    // before it
  Wait(100, 150);  // its end is in it
  Wait(200, 300);
  const model::ThreadStates states = Collect();
  ASSERT_EQ(states.waits.size(), 2u);
  EXPECT_EQ(states.waits[0].kind, WaitKind::kUnknown);
  EXPECT_EQ(states.waits[1].kind, WaitKind::kUnknown);
  EXPECT_EQ(states.waits[1].begin_ns, 200 + EpochOffsetNs());
  EXPECT_EQ(states.waits[1].duration_ns, 100);
  EXPECT_EQ(states.waits[1].runnable_ns, -1);
  ASSERT_EQ(states.short_waits.size(), 1u);
  EXPECT_EQ(states.short_waits[0].kind, WaitKind::kSleep);
  EXPECT_EQ(states.short_waits[0].stack, model::StackId{5});
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kWaitsWithoutStack), 2u);
}

// A look that came after the wait had ended says nothing of it.
TEST_F(WaitLogTest, ACauseOfALaterTimeWaitsForItsWait) {
  log_.OnCause(8, 150, {.kind = WaitKind::kSleep});
  Wait(160, 300);
  log_.OnCause(8, 450, {.kind = WaitKind::kPoll});
  Wait(300, 430);
  Wait(440, 640);
  const model::ThreadStates states = Collect();
  ASSERT_EQ(states.waits.size(), 3u);
  EXPECT_EQ(states.waits[0].kind, WaitKind::kUnknown);
  EXPECT_EQ(states.waits[1].kind, WaitKind::kUnknown);
  EXPECT_EQ(states.waits[2].kind, WaitKind::kPoll);
}

TEST_F(WaitLogTest, ACauseWithoutALookReplacesNothingThatIsKnown) {
  const auto stopped = [&](uint64_t since_ns) {
    log_.OnCauseWithoutLook(8, since_ns, {.kind = WaitKind::kOther});
  };
  // Of an earlier wait.
  log_.OnCause(8, 50, {.kind = WaitKind::kSleep, .stack = 1});
  stopped(100);
  Wait(100, 300);
  // A sample without a known call.
  log_.OnCause(8, 400, {.stack = 1}, CauseFrom::kSample);
  stopped(400);
  Wait(400, 600);
  log_.OnCause(8, 700, {.kind = WaitKind::kPoll, .stack = 2});
  stopped(700);
  Wait(700, 900);
  const model::ThreadStates states = Collect();
  ASSERT_EQ(states.waits.size(), 3u);
  EXPECT_EQ(states.waits[0].kind, WaitKind::kOther);
  EXPECT_EQ(states.waits[0].stack, model::kEmptyStack);
  EXPECT_EQ(states.waits[1].kind, WaitKind::kOther);
  EXPECT_EQ(states.waits[1].stack, model::StackId{5});
  EXPECT_EQ(states.waits[2].kind, WaitKind::kPoll);
  EXPECT_EQ(states.waits[2].stack, model::StackId{6});
}

TEST_F(WaitLogTest, APreemptedThreadWaitsForACpu) {
  log_.OnWait({.thread = kThread,
               .begin_ns = 10,
               .end_ns = 210,
               .is_runnable = true,
               .is_open = true});
  const model::ThreadStates states = Collect();
  ASSERT_EQ(states.waits.size(), 1u);
  EXPECT_EQ(states.waits[0].kind, WaitKind::kCpuBusy);
  EXPECT_EQ(states.waits[0].runnable_ns, 200);
  EXPECT_TRUE(states.waits[0].is_open);
}

TEST_F(WaitLogTest, WhoHeldTheLockAndWhoWokeBelongToTheWaitThatHasTheirTime) {
  log_.OnHolder(8, 150, {.thread = {7, 3}, .stack = 1});
  log_.OnWake(8, 180, {.thread = {7, 4}, .stack = 1});
  EXPECT_TRUE(log_.IsWoken(8));
  log_.OnWake(8, 181, {.thread = {7, 5}});  // the same, told twice
  Wait(100, 200);
  EXPECT_FALSE(log_.IsWoken(8));
  Wait(200, 400);
  const model::ThreadStates states = Collect();
  ASSERT_EQ(states.waits.size(), 2u);
  const model::Wait& wait = states.waits[0];
  EXPECT_EQ(wait.holder, 3u);
  EXPECT_EQ(wait.holder_stack, model::StackId{5});
  EXPECT_EQ(wait.waker, 4u);
  EXPECT_EQ(wait.waker_stack, model::StackId{5});
  EXPECT_EQ(wait.runnable_ns, 20);
  EXPECT_EQ(states.waits[1].holder, model::kNoTrack);
  EXPECT_EQ(states.waits[1].waker, model::kNoTrack);
  EXPECT_EQ(states.waits[1].runnable_ns, -1);
}

// The lock may have gone on, and nobody looked again.
TEST_F(WaitLogTest, AnEarlyLookAtALongWaitTellsNoHolder) {
  constexpr uint64_t kLong = 100'000'000;
  log_.OnHolder(8, kLong / 4, {.thread = {7, 3}});
  Wait(0, kLong);
  log_.OnHolder(8, kLong + kLong / 4 - 1, {.thread = {7, 3}});
  Wait(kLong, 2 * kLong);
  log_.OnHolder(8, 2 * kLong + 1, {.thread = {7, 3}});
  Wait(2 * kLong, 3 * kLong - 1);
  const model::ThreadStates states = Collect();
  ASSERT_EQ(states.waits.size(), 3u);
  EXPECT_EQ(states.waits[0].holder, 3u);
  EXPECT_EQ(states.waits[1].holder, model::kNoTrack);
  EXPECT_EQ(states.waits[2].holder, 3u);
}

// A wake that came too early for the thread to sleep is none of its next wait.
TEST_F(WaitLogTest, AThreadThatLeavesItsCpuIsNotWokenYet) {
  log_.OnWake(8, 100, {.thread = {7, 4}});
  log_.OnSwitchOut(8);
  EXPECT_FALSE(log_.IsWoken(8));
  Wait(100, 200);
  EXPECT_EQ(Collect().waits[0].waker, model::kNoTrack);
}

// A timer has woken it, or a disk.
TEST_F(WaitLogTest, AWakeByNoThreadSaysWhenItWas) {
  log_.OnWake(8, 180, {});
  Wait(100, 200);
  const model::Wait wait = Collect().waits.at(0);
  EXPECT_EQ(wait.waker, model::kNoTrack);
  EXPECT_EQ(wait.runnable_ns, 20);
}

// Whoever asks where a program hangs looks for them.
TEST_F(WaitLogTest, OpenWaitsAreKeptHoweverShortAndMany) {
  for (uint32_t tid = 1; tid < 9; ++tid) {
    log_.OnWait(
        {.thread = {7, tid}, .begin_ns = 10, .end_ns = 20, .is_open = true});
  }
  const model::ThreadStates states = Collect();
  EXPECT_EQ(states.waits.size(), 8u);
  EXPECT_TRUE(states.short_waits.empty());
}

TEST_F(WaitLogTest, AFewShortWaitsAreKept) {
  for (const uint64_t count : {2, 3}) {
    WaitLimits limits = kLimits;
    limits.most_short_waits = 2;
    log_ = WaitLog(limits);
    for (uint64_t i = 0; i < count; ++i) Wait(1000 * i, 1000 * i + 10 + i);
    Wait(5000, 5200);
    const model::ThreadStates states = Collect();
    if (count == 2) {
      EXPECT_EQ(states.min_wait_ns, 0);
      ASSERT_EQ(states.waits.size(), 3u);
      EXPECT_EQ(states.waits[1].duration_ns, 11);
      EXPECT_TRUE(states.short_waits.empty());
    } else {
      EXPECT_EQ(states.min_wait_ns, 100);
      ASSERT_EQ(states.waits.size(), 1u);
      ASSERT_EQ(states.short_waits.size(), 1u);
      EXPECT_EQ(states.short_waits[0].count, 3u);
      EXPECT_EQ(states.short_waits[0].duration_ns, 10 + 11 + 12);
      EXPECT_EQ(states.short_waits[0].longest_ns, 12);
    }
  }
}

// Three are kept, and two sums: the others lose their stack, but still count.
TEST_F(WaitLogTest, WaitsBeyondTheLimitsAreSummed) {
  for (uint64_t i = 0; i < 10; ++i) {
    log_.OnCause(8, 1000 * i,
                 {.kind = WaitKind::kRead,
                  .stack = 1,
                  .object = i,
                  .object_name = log_.Name(std::to_string(i))});
    Wait(1000 * i, 1000 * i + 100 + i);
  }
  Wait(20'000, 20'200, {7, 6});
  const model::ThreadStates states = Collect();
  EXPECT_EQ(states.min_wait_ns, 100);
  EXPECT_EQ(states.waits.size(), 3u);
  uint64_t count = states.waits.size();
  DurationNs sum_ns = 0;
  for (const model::Wait& wait : states.waits) sum_ns += wait.duration_ns;
  for (const model::WaitSum& sum : states.short_waits) {
    count += sum.count;
    sum_ns += sum.duration_ns;
  }
  EXPECT_EQ(count, 11u);
  EXPECT_EQ(sum_ns, 10 * 100 + 45 + 200);
  // By track; two with all they had, and one for each thread and kind.
  ASSERT_EQ(states.short_waits.size(), 4u);
  EXPECT_EQ(states.short_waits[0].track, 6u);
  EXPECT_EQ(states.short_waits[1].object, 0u);
  EXPECT_EQ(states.short_waits[1].count, 5u);
  EXPECT_EQ(states.short_waits[1].longest_ns, 109);
  EXPECT_EQ(states.short_waits[2].object, 3u);
  EXPECT_EQ(states.short_waits[3].object, 4u);
  // The third name and those after it had no room.
  EXPECT_EQ(shard_.strings.Get(states.waits[1].object_name), "1");
  EXPECT_EQ(states.waits[2].object_name, model::kEmptyName);
}

TEST_F(WaitLogTest, NamesTakeBoundedMemoryAndAreCounted) {
  WaitLog log({.most_name_bytes = 10});
  EXPECT_NE(log.Name("12345678"), model::kEmptyName);
  EXPECT_EQ(log.Name("abc"), model::kEmptyName);
  EXPECT_NE(log.Name("ab"), model::kEmptyName);
  EXPECT_NE(log.Name("12345678"), model::kEmptyName) << "known";
  model::ThreadStates states;
  log.Collect([](const ThreadKey&) { return 0; }, {}, shard_, states);
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kBackendRecordsLost), 1u);
}

// A server has a new one for each request.
TEST_F(WaitLogTest, SumsDoNotTellSocketsApart) {
  WaitLog log({.most_short_waits = 0});
  for (const char* const name : {"socket:[1]", "socket:[2]"}) {
    log.OnCause(8, 10,
                {.kind = WaitKind::kNetwork, .object_name = log.Name(name)});
    log.OnWait({.thread = kThread, .begin_ns = 5, .end_ns = 15});
  }
  model::ThreadStates states;
  log.Collect([](const ThreadKey&) { return 0; },
              std::vector<model::StackId>(1), shard_, states);
  ASSERT_EQ(states.short_waits.size(), 1u);
  EXPECT_EQ(states.short_waits[0].count, 2u);
  EXPECT_EQ(shard_.strings.Get(states.short_waits[0].object_name), "socket");
}

TEST_F(WaitLogTest, ResultsHaveWhatBecameKnownOfAName) {
  WaitLog log;
  const model::NameId name = log.Name("socket:[1]");
  log.OnCause(8, 10, {.kind = WaitKind::kNetwork, .object_name = name});
  log.OnWait({.thread = kThread, .begin_ns = 5, .end_ns = 15});
  log.Show(name, "tcp");
  log.Show(name, "tcp 10.0.0.7:80");
  model::ThreadStates states;
  log.Collect([](const ThreadKey&) { return 0; },
              std::vector<model::StackId>(1), shard_, states);
  EXPECT_EQ(shard_.strings.Get(states.waits.at(0).object_name),
            "tcp 10.0.0.7:80");
}

// The hook only knows how many descriptors it polled.
TEST_F(WaitLogTest, ACallTakesTheNameFromTheLookAtTheSameObject) {
  WaitLog log;
  log.ExpectCalls();
  const model::NameId seen = log.Name("2 descriptors: 4 pipe, 5 eventfd");
  log.OnCause(8, 10, {.kind = WaitKind::kPoll, .object_name = seen});
  log.OnWait({.thread = kThread, .begin_ns = 5, .end_ns = 15});
  log.OnCall({.tid = 8, .begin_ns = 4, .end_ns = 16}, [&](const ThreadKey&) {
    return WaitCause{.kind = WaitKind::kPoll,
                     .object_name = log.Name("2 descriptors")};
  });
  model::ThreadStates states;
  log.Collect([](const ThreadKey&) { return 0; },
              std::vector<model::StackId>(1), shard_, states);
  EXPECT_EQ(shard_.strings.Get(states.waits.at(0).object_name),
            "2 descriptors: 4 pipe, 5 eventfd");
}

TEST_F(WaitLogTest, WaitsAreInTheOrderOfTracksAndTimes) {
  Wait(0, 500, {7, 9});
  Wait(0, 300);
  Wait(300, 400);
  const model::ThreadStates states = Collect();
  ASSERT_EQ(states.waits.size(), 3u);
  EXPECT_EQ(states.waits[0].duration_ns, 300);
  EXPECT_EQ(states.waits[1].duration_ns, 100);
  EXPECT_EQ(states.waits[2].track, 9u);
}

TEST_F(WaitLogTest, AThreadThatWasHardlyBlockedWaitedForACpu) {
  const auto collect = [](DurationNs runnable_ns, DurationNs unknown_ns) {
    WaitLog log(kLimits);
    log.OnWait({.thread = kThread, .begin_ns = 0, .end_ns = 1000});
    // Blocked for 300 ns: who woke the thread is known.
    log.OnWake(8, 1300, {});
    log.OnWait({.thread = kThread, .begin_ns = 1000, .end_ns = 1500});
    model::ThreadStates states;
    states.threads.push_back({.track = 8,
                              .wall_ns = 2000,
                              .on_cpu_ns = 500,
                              .runnable_ns = runnable_ns,
                              .unknown_ns = unknown_ns});
    model::TraceShard shard;
    log.Collect([](const ThreadKey& of) { return of.tid; },
                std::vector<model::StackId>(1), shard, states);
    return std::pair(states.waits.at(0),
                     shard.ledger.Get(model::Loss::kWaitsWithoutStack));
  };
  const auto [wait, lost] = collect(/*runnable_ns=*/1100, 0);
  EXPECT_EQ(wait.kind, WaitKind::kCpuBusy);
  EXPECT_EQ(wait.runnable_ns, 900);  // at least
  EXPECT_EQ(lost, 1u);               // the other wait
  EXPECT_EQ(collect(1099, 0).first.kind, WaitKind::kUnknown);
  EXPECT_EQ(collect(1099, 0).second, 2u);
  EXPECT_EQ(collect(1100, 1).first.kind, WaitKind::kUnknown);
}

TEST_F(WaitLogTest, WhatAThreadWasBlockedCountsOnce) {
  Wait(0, 1000);
  Wait(2000, 3000);
  model::ThreadStates states;
  states.threads.push_back({.track = 8,
                            .wall_ns = 3000,
                            .on_cpu_ns = 1000,
                            .runnable_ns = 1900});  // 100 ns are left
  model::TraceShard shard;
  log_.Collect([](const ThreadKey& of) { return of.tid; },
               std::vector<model::StackId>(1), shard, states);
  ASSERT_EQ(states.waits.size(), 2u);
  EXPECT_EQ(states.waits[0].runnable_ns, 900);
  EXPECT_EQ(states.waits[1].runnable_ns, 1000);
}

class CallsTest : public WaitLogTest {
 protected:
  CallsTest() { log_.ExpectCalls(); }
  void Call(uint64_t begin_ns, uint64_t end_ns, WaitKind kind,
            uint32_t holder = 0) {
    log_.OnCall({.tid = 8,
                 .begin_ns = begin_ns,
                 .end_ns = end_ns,
                 .holder_tid = holder},
                [&](const ThreadKey& thread) {
                  EXPECT_EQ(thread, kThread);
                  return WaitCause{.kind = kind, .stack = 1};
                });
  }
};

constexpr uint64_t kUs = kNsPerUs;

TEST_F(CallsTest, ACallTellsOfTheWaitsInIt) {
  Wait(10 * kUs, 20 * kUs);
  Wait(100 * kUs, 110 * kUs);
  Wait(120 * kUs, 130 * kUs);
  Wait(200 * kUs, 210 * kUs);
  Call(90 * kUs, 140 * kUs, WaitKind::kSleep);
  const model::ThreadStates states = Collect();
  ASSERT_EQ(states.waits.size(), 3u);
  EXPECT_EQ(states.waits[0].kind, WaitKind::kUnknown);
  EXPECT_EQ(states.waits[1].kind, WaitKind::kSleep);
  EXPECT_EQ(states.waits[1].stack, model::StackId{5});
  EXPECT_EQ(states.waits[2].kind, WaitKind::kSleep);
  // The one after it, which no call told of, is there, too.
  ASSERT_EQ(states.short_waits.size(), 1u);
  EXPECT_EQ(states.short_waits[0].kind, WaitKind::kUnknown);
}

TEST_F(CallsTest, CallsWithoutWaitsAreNotAsked) {
  bool is_asked = false;
  log_.OnCall({.tid = 8, .begin_ns = 0, .end_ns = 100 * kUs},
              [&](const ThreadKey&) {
                is_asked = true;
                return WaitCause{};
              });
  Wait(200 * kUs, 210 * kUs);
  log_.OnCall({.tid = 9, .begin_ns = 190 * kUs, .end_ns = 220 * kUs},
              [&](const ThreadKey&) {
                is_asked = true;
                return WaitCause{};
              });
  EXPECT_FALSE(is_asked);
}

TEST_F(CallsTest, TheFirstWaitOfACallHasTheHolder) {
  Wait(10 * kUs, 20 * kUs);
  Wait(30 * kUs, 40 * kUs);
  Call(5 * kUs, 45 * kUs, WaitKind::kLock, 9);
  const model::ThreadStates states = Collect();
  ASSERT_EQ(states.waits.size(), 2u);
  EXPECT_EQ(states.waits[0].holder, 9u);
  EXPECT_EQ(states.waits[1].holder, model::kNoTrack);
}

TEST_F(CallsTest, ACallOfASignalsHandlerLeavesTheWaitsAroundIt) {
  Wait(10 * kUs, 20 * kUs);
  Wait(30 * kUs, 40 * kUs);  // of the handler
  Wait(50 * kUs, 60 * kUs);
  Call(28 * kUs, 42 * kUs, WaitKind::kSleep);
  Call(5 * kUs, 65 * kUs, WaitKind::kLock);
  const model::ThreadStates states = Collect();
  ASSERT_EQ(states.waits.size(), 3u);
  EXPECT_EQ(states.waits[0].kind, WaitKind::kLock);
  EXPECT_EQ(states.waits[1].kind, WaitKind::kSleep);
  EXPECT_EQ(states.waits[2].kind, WaitKind::kLock);
}

TEST_F(CallsTest, CallsTellWhoEndedTheirWaits) {
  const OtherThread waker = {.thread = {7, 9}, .stack = 2};
  Wait(10 * kUs, 20 * kUs);
  Wait(30 * kUs, 40 * kUs);
  Wait(50 * kUs, 60 * kUs);
  log_.OnCall(
      {.tid = 8, .begin_ns = 5 * kUs, .end_ns = 65 * kUs},
      [](const ThreadKey&) {
        return WaitCause{.kind = WaitKind::kCondition, .stack = 1};
      },
      [&](const OffCpuTime& wait, bool is_first) -> std::optional<WakeOfWait> {
        EXPECT_EQ(is_first, wait.begin_ns == 10 * kUs);
        if (is_first) return WakeOfWait{17 * kUs, waker, std::nullopt};
        if (wait.begin_ns == 50 * kUs) return std::nullopt;
        return WakeOfWait{39 * kUs, waker, WaitCause{.kind = WaitKind::kLock}};
      });
  const model::ThreadStates states = Collect();
  ASSERT_EQ(states.waits.size(), 3u);
  EXPECT_EQ(states.waits[0].kind, WaitKind::kCondition);
  EXPECT_EQ(states.waits[0].waker, 9u);
  EXPECT_EQ(states.waits[0].waker_stack, model::StackId{6});
  EXPECT_EQ(states.waits[0].runnable_ns, 3 * kNsPerUs);
  EXPECT_EQ(states.waits[1].kind, WaitKind::kLock);
  EXPECT_EQ(states.waits[1].waker, 9u);
  EXPECT_EQ(states.waits[2].kind, WaitKind::kCondition);
  EXPECT_EQ(states.waits[2].waker, model::kNoTrack);
}

// It has all registers, and what the thread waited for at that moment.
TEST_F(CallsTest, SamplesNeedNoCall) {
  log_.OnCause(8, 15 * kUs, {.kind = WaitKind::kRead}, CauseFrom::kSample);
  Wait(10 * kUs, 20 * kUs);
  Call(5 * kUs, 25 * kUs, WaitKind::kSleep);
  EXPECT_EQ(Collect().waits.at(0).kind, WaitKind::kRead);
}

TEST_F(CallsTest, LooksKnowOfStopsAndOfTheMutexOfACondition) {
  log_.OnCause(8, 15 * kUs, {.kind = WaitKind::kOther});
  Wait(10 * kUs, 20 * kUs);
  Call(5 * kUs, 25 * kUs, WaitKind::kSleep);
  log_.OnCause(8, 35 * kUs, {.kind = WaitKind::kLock});
  Wait(30 * kUs, 40 * kUs);
  Call(29 * kUs, 45 * kUs, WaitKind::kCondition);
  log_.OnCause(8, 55 * kUs, {.kind = WaitKind::kCondition});
  Wait(50 * kUs, 60 * kUs);
  Call(49 * kUs, 65 * kUs, WaitKind::kLock);
  const model::ThreadStates states = Collect();
  ASSERT_EQ(states.waits.size(), 3u);
  EXPECT_EQ(states.waits[0].kind, WaitKind::kOther);
  EXPECT_EQ(states.waits[1].kind, WaitKind::kLock);
  EXPECT_EQ(states.waits[1].stack, model::kEmptyStack);
  EXPECT_EQ(states.waits[2].kind, WaitKind::kLock);
  EXPECT_EQ(states.waits[2].stack, model::StackId{5});
}

// However long a call goes on, memory is bounded.
TEST(HeldWaitsTest, OldOnesAndTooManyAreNotHeld) {
  WaitLog log({.min_wait_ns = 0, .held_ns = 25 * kNsPerUs, .most_held = 5});
  log.ExpectCalls();
  const auto wait = [&](uint32_t tid, uint64_t us) {
    log.OnWait(
        {.thread = {7, tid}, .begin_ns = us * kUs, .end_ns = (us + 1) * kUs});
  };
  for (uint64_t i = 0; i < 5; ++i) wait(8, 10 * i);  // the first two are old
  for (uint64_t i = 0; i < 3; ++i)
    wait(9, i);  // the third pushes the first out
  wait(10, 0);   // there is no room for it
  const auto told = [](const ThreadKey&) {
    return WaitCause{.kind = WaitKind::kRead};
  };
  for (const uint32_t tid : {8, 9, 10}) {
    log.OnCall({.tid = tid, .begin_ns = 0, .end_ns = kNsPerMs}, told);
  }
  model::TraceShard shard;
  model::ThreadStates states;
  const std::vector<model::StackId> stacks = {model::kEmptyStack};
  log.Collect([](const ThreadKey& thread) { return thread.tid; }, stacks, shard,
              states);
  std::vector<WaitKind> kinds;
  for (const model::Wait& kept : states.waits) kinds.push_back(kept.kind);
  constexpr WaitKind kNone = WaitKind::kUnknown, kRead = WaitKind::kRead;
  EXPECT_EQ(kinds, (std::vector<WaitKind>{kNone, kNone, kRead, kRead, kRead,
                                          kNone, kRead, kRead, kNone}));
}

// Threads that wait outside of all calls and end, for ever.
TEST(HeldWaitsTest, ThreadsThatEndedTakeNoRoom) {
  WaitLog log({.min_wait_ns = 0, .most_held = 5});
  log.ExpectCalls();
  for (uint32_t tid = 100; tid < 200; ++tid) {
    log.OnWait({.thread = {7, tid}, .begin_ns = 0, .end_ns = kUs});
    if (tid % 2 == 0) log.OnThreadEnd(tid);
    // Of the others, all are old by now.
    if (tid == 199) {
      log.OnWait({.thread = {7, 8},
                  .begin_ns = 5 * kNsPerSecond,
                  .end_ns = 5 * kNsPerSecond + kUs});
    }
  }
  log.OnCall(
      {.tid = 8,
       .begin_ns = 5 * kNsPerSecond,
       .end_ns = 5 * kNsPerSecond + 2 * kUs},
      [](const ThreadKey&) { return WaitCause{.kind = WaitKind::kRead}; });
  model::TraceShard shard;
  model::ThreadStates states;
  const std::vector<model::StackId> stacks = {model::kEmptyStack};
  log.Collect([](const ThreadKey& thread) { return thread.tid; }, stacks, shard,
              states);
  ASSERT_EQ(states.waits.size(), 101u);
  EXPECT_EQ(states.waits[0].kind, WaitKind::kRead);
}

}  // namespace
}  // namespace kymo::off_cpu
