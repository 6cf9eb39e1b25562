// Long, because each rule by which waits are idle or one lock has its case.
#include "profiler/analysis/waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "profiler/model/thread_states.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::Trace;
using model::TrackIndex;
using model::Wait;
using model::WaitKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Wait At(TrackIndex track, WaitKind kind, TimeNs begin_ns, TimeNs end_ns) {
  return {.track = track,
          .kind = kind,
          .begin_ns = begin_ns,
          .duration_ns = end_ns - begin_ns};
}

DurationNs Blocked(const RangeSplit& range, WaitKind kind) {
  return range.blocked_ns[static_cast<size_t>(kind)];
}

// "place kind idle: count of duration, longest"
std::vector<std::string> Texts(const Trace& trace,
                               const std::vector<WaitGroup>& groups) {
  std::vector<std::string> texts;
  for (const WaitGroup& group : groups) {
    std::string text = "?";
    if (group.stack != model::kEmptyStack) {
      const model::StackTable& stacks = trace.stacks();
      text = trace.Name(stacks.frame(stacks.leaf(group.stack)).function);
    }
    text += " " + std::string(NameOf(group.kind));
    if (group.is_idle) text += " idle";
    text += ": " + std::to_string(group.count) + " of " +
            std::to_string(group.duration_ns) + ", " +
            std::to_string(group.longest_ns);
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(WaitsTest, WaitsOfOnePlaceAndKindAddUpTheLongestFirst) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  const auto worker = t.AddThread(7, 8, "worker");
  t.AddWait(At(main, WaitKind::kLock, 10, 15), {"f", "lock"});
  t.AddWait(At(main, WaitKind::kSleep, 20, 50), {"f", "sleep"});
  t.AddWait(At(worker, WaitKind::kLock, 10, 17), {"f", "lock"});
  t.AddWait(At(worker, WaitKind::kRead, 20, 24), {"f", "lock"});
  t.AddShortWaits({.track = main,
                   .kind = WaitKind::kLock,
                   .count = 3,
                   .duration_ns = 6,
                   .longest_ns = 4},
                  {"f", "lock"});
  const Trace trace = std::move(t).Build();
  EXPECT_THAT(Texts(trace, WaitsByPlace(trace)),
              ElementsAre("sleep sleep: 1 of 30, 30", "lock lock: 5 of 18, 7",
                          "lock read: 1 of 4, 4"));
  const std::vector<WaitGroup> by_thread = WaitsByThreadAndPlace(trace);
  EXPECT_THAT(Texts(trace, by_thread),
              ElementsAre("sleep sleep: 1 of 30, 30", "lock lock: 4 of 11, 5",
                          "lock lock: 1 of 7, 7", "lock read: 1 of 4, 4"));
  EXPECT_EQ(by_thread[1].track, main);
  EXPECT_EQ(by_thread[2].track, worker);
}

// Of kinds by which threads wait for work, outside of ranges; never on a first
// thread without ranges.
TEST(WaitsTest, WaitsForWorkAreIdle) {
  TestTrace t;
  const auto plain_main = t.AddThread(1, 1, "main");
  const auto plain_worker = t.AddThread(1, 2, "worker");
  const auto main = t.AddThread(3, 3, "main");
  t.AddRange(main, "serve", 100, 200);
  const auto worker = t.AddThread(3, 4, "worker");
  t.AddRange(worker, "task", 100, 200);
  for (const TrackIndex track : {plain_main, plain_worker, main, worker}) {
    const std::string name = std::to_string(track);
    t.AddWait(At(track, WaitKind::kCondition, 10, 20), {name});
    t.AddWait(At(track, WaitKind::kLock, 30, 32), {name});
    t.AddWait(At(track, WaitKind::kCondition, 150, 151), {name});
    // It begins when the range ends.
    t.AddWait(At(track, WaitKind::kPoll, 200, 205), {name});
  }
  for (const TrackIndex track : {plain_main, plain_worker, main, worker}) {
    t.AddShortWaits({.track = track,
                     .kind = WaitKind::kNetwork,
                     .count = 1,
                     .duration_ns = 3},
                    {std::to_string(track)});
  }
  const Trace trace = std::move(t).Build();
  std::vector<std::string> idle;
  for (const WaitGroup& group : WaitsByPlace(trace)) {
    if (group.is_idle) idle.push_back(Texts(trace, {group})[0]);
  }
  EXPECT_THAT(
      idle, ElementsAre("1 condition idle: 2 of 11, 10",
                        "2 condition idle: 1 of 10, 10",
                        "3 condition idle: 1 of 10, 10",
                        "1 poll idle: 1 of 5, 5", "2 poll idle: 1 of 5, 5",
                        "3 poll idle: 1 of 5, 5", "1 network idle: 1 of 3, 0"));
  EXPECT_EQ(
      IdleWaits(trace),
      (std::vector<bool>{false, false, false, false, true, false, true, true,
                         true, false, false, true, true, false, false, true}));
  const WaitSummary summary = SummarizeWaits(trace);
  EXPECT_EQ(summary.idle_ns, 11 + 10 + 10 + 15 + 3);
  const auto blocked = [&](WaitKind kind) {
    return summary.blocked_ns[static_cast<size_t>(kind)];
  };
  EXPECT_EQ(blocked(WaitKind::kCondition), 11 + 1 + 1);
  EXPECT_EQ(blocked(WaitKind::kLock), 4 * 2);
  EXPECT_EQ(blocked(WaitKind::kPoll), 5);
  EXPECT_EQ(blocked(WaitKind::kNetwork), 3 * 3);
}

// The thread that was seen to hold the lock, or else who gave it back.
TEST(WaitsTest, LocksHaveHoldersByStack) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  const auto worker = t.AddThread(7, 8, "worker");
  const auto a = t.Stack({"a"}), b = t.Stack({"b"}), c = t.Stack({"c"});
  const auto add = [&](TimeNs begin_ns, DurationNs duration_ns,
                       TrackIndex holder, model::StackId holder_stack,
                       TrackIndex waker, model::StackId waker_stack) {
    Wait wait = At(main, WaitKind::kLock, begin_ns, begin_ns + duration_ns);
    wait.object = 31;
    wait.holder = holder;
    wait.holder_stack = holder_stack;
    wait.waker = waker;
    wait.waker_stack = waker_stack;
    t.AddWait(wait);
  };
  add(10, 5, worker, a, main, b);
  add(20, 6, model::kNoTrack, model::kEmptyStack, worker, b);
  add(30, 7, worker, model::kEmptyStack, worker, c);
  // Where it was is unknown, but who gave the lock back had it, too.
  add(40, 1, worker, model::kEmptyStack, main, b);
  add(45, 3, worker, model::kEmptyStack, model::kNoTrack, model::kEmptyStack);
  add(50, 2, worker, a, model::kNoTrack, model::kEmptyStack);
  t.AddShortWaits({.track = main,
                   .kind = WaitKind::kLock,
                   .object = 31,
                   .count = 3,
                   .duration_ns = 4,
                   .longest_ns = 2});
  const Trace trace = std::move(t).Build();
  const auto locks = WaitsByLock(trace);
  ASSERT_EQ(locks.size(), 1u);
  EXPECT_THAT(Texts(trace, locks[0].holders),
              ElementsAre("a lock: 2 of 7, 5", "c lock: 1 of 7, 7",
                          "b lock: 1 of 6, 6", "? lock: 3 of 4, 2",
                          "? lock: 1 of 3, 3", "b lock: 1 of 1, 1"));
  EXPECT_EQ(locks[0].holders[0].track, worker);
  EXPECT_EQ(locks[0].holders[4].track, worker);
  EXPECT_EQ(locks[0].holders[5].track, main);
  EXPECT_THAT(Texts(trace, locks[0].waiters),
              ElementsAre("? lock: 9 of 28, 7"));
  // b ended 12 ns of them, c 7.
  EXPECT_EQ(locks[0].waiters[0].waker_stack, b);
  const auto& waits = trace.thread_states()->waits;
  EXPECT_EQ(HolderOf(waits[0]).track, worker);
  EXPECT_EQ(HolderOf(waits[1]).track, worker);
  EXPECT_EQ(HolderOf(waits[3]).track, worker);
  Wait condition = waits[1];
  condition.kind = WaitKind::kCondition;
  EXPECT_EQ(HolderOf(condition).track, model::kNoTrack);
}

// Its first thread, too, and the monitor's sleep; but not a thread that runs a
// goroutine, or that was preempted.
TEST(WaitsTest, ThreadsOfGosSchedulerAreIdle) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.SetThreadTimes({{.track = main, .wall_ns = 100}});
  t.AddWait(At(main, WaitKind::kPoll, 0, 10),
            {"runtime.mcall", "runtime.findRunnable", "runtime.netpoll"});
  t.AddWait(At(main, WaitKind::kLock, 20, 31), {"runtime.stopm"});
  t.AddWait(At(main, WaitKind::kSleep, 40, 52), {"runtime.sysmon"});
  t.AddWait(At(main, WaitKind::kCpuBusy, 60, 63), {"runtime.findRunnable"});
  t.AddWait(At(main, WaitKind::kRead, 70, 74), {"main.main", "syscall.read"});
  const Trace trace = std::move(t).Build();
  EXPECT_EQ(SummarizeWaits(trace).idle_ns, 10 + 11 + 12);
}

// The thread that runs the program tells what that waits for.
TEST(WaitsTest, TheLauncherOfJavaIsIdle) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "java");
  t.SetThreadTimes({{.track = main, .wall_ns = 100}});
  t.AddWait(At(main, WaitKind::kCondition, 0, 10),
            {"CallJavaMainInNewThread", "pthread_join"});
  EXPECT_EQ(SummarizeWaits(std::move(t).Build()).idle_ns, 10);
}

// A look at a program without symbols may find no callers.
TEST(WaitsTest, WaitsOfGoWithoutACallerAreIdle) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.SetThreadTimes({{.track = main, .wall_ns = 100}});
  t.AddWait(At(main, WaitKind::kCondition, 0, 10), {"runtime.futex"});
  t.AddWait(At(main, WaitKind::kSleep, 20, 31), {"runtime.usleep"});
  t.AddWait(At(main, WaitKind::kPoll, 40, 52), {"runtime.epollwait"});
  t.AddWait(At(main, WaitKind::kCondition, 60, 63),
            {"main.main", "runtime.lock2", "runtime.futex"});
  t.AddWait(At(main, WaitKind::kCpuBusy, 70, 74), {"runtime.usleep"});
  const Trace trace = std::move(t).Build();
  EXPECT_EQ(SummarizeWaits(trace).idle_ns, 10 + 11 + 12);
}

// Kymo measures clocks of ranks in the thread that called MPI_Init.
TEST(WaitsTest, WaitsOfKymosOwnCodeAreIdle) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.SetThreadTimes({{.track = main, .wall_ns = 100}});
  t.AddRange(main, "MPI_Finalize", 0, 50);
  t.AddWait(At(main, WaitKind::kSleep, 0, 10),
            {"main", "MPI_Finalize", "[Kymo] BeforeFinalize", "nanosleep"});
  t.AddWait(At(main, WaitKind::kSleep, 20, 31), {"main", "MPI_Finalize"});
  EXPECT_EQ(SummarizeWaits(std::move(t).Build()).idle_ns, 10);
}

TEST(WaitsTest, WaitsInTheRuntimeAreKymosOwn) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.SetThreadTimes({{.track = main, .wall_ns = 100}});
  t.AddWait(At(main, WaitKind::kLock, 0, 10));
  t.AddWait(At(main, WaitKind::kLock, 20, 21));
  t.AddWait(At(main, WaitKind::kCpuBusy, 30, 35));
  auto states = std::make_shared<model::ThreadStates>(*t.data().thread_states);
  states->waits[0].stack =
      t.Stack({"main", "NoteCall"}, "/opt/kymo/libkymo_runtime.so");
  states->waits[1].stack =
      t.Stack({"main", "NoteCall"}, "/usr/lib/libruntime.so");
  states->waits[2].stack = states->waits[0].stack;
  t.data().thread_states = std::move(states);
  const Trace trace = std::move(t).Build();
  // A thread that was preempted in a hook had the program's work to do.
  EXPECT_EQ(IdleWaits(trace), (std::vector<bool>{true, false, false}));
}

// Of a first thread without ranges, too: it is a server's loop.
TEST(WaitsTest, AWaitForClientsIsIdle) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.SetThreadTimes({{.track = main, .wall_ns = 100}});
  const auto add = [&](WaitKind kind, TimeNs begin_ns, const char* object) {
    Wait wait = At(main, kind, begin_ns, begin_ns + 5);
    wait.object_name = t.Intern(object);
    t.AddWait(wait, {"main", "Loop"});
    t.AddShortWaits({.track = main,
                     .kind = kind,
                     .object_name = wait.object_name,
                     .count = 2,
                     .duration_ns = 3},
                    {"main", object});
  };
  add(WaitKind::kNetwork, 0, "tcp listening on 0.0.0.0:80");
  add(WaitKind::kPoll, 10,
      "epoll of 9 descriptors, among them 5 tcp listening on 0.0.0.0:80");
  add(WaitKind::kPoll, 20, "epoll of 9 descriptors");
  add(WaitKind::kNetwork, 30, "tcp 10.0.0.7:5432");
  add(WaitKind::kRead, 40, "/srv/hits listening on me");
  const Trace trace = std::move(t).Build();
  EXPECT_EQ(IdleWaits(trace),
            (std::vector<bool>{true, true, false, false, false}));
  EXPECT_EQ(SummarizeWaits(trace).idle_ns, 2 * (5 + 3));
}

// In a container, the process with number 2 is none of the kernel's.
TEST(WaitsTest, UnknownWaitsOfTheKernelsThreadsAreIdle) {
  for (const char* const parent : {"kthreadd", "sh"}) {
    TestTrace t;
    t.data().processes = {{.pid = 2, .name = t.Intern(parent)},
                          {.pid = 9, .parent_pid = 2},
                          {.pid = 10, .parent_pid = 1}};
    for (const int pid : {2, 9, 10}) {
      const auto thread = t.AddThread(pid, pid, "");
      t.AddWait(At(thread, WaitKind::kUnknown, 0, 5));
      t.AddWait(At(thread, WaitKind::kCpuBusy, 6, 7));
      t.AddShortWaits({.track = thread, .count = 2, .duration_ns = 3});
    }
    const Trace trace = std::move(t).Build();
    const bool are = std::string_view(parent) == "kthreadd";
    EXPECT_EQ(IdleWaits(trace),
              (std::vector<bool>{are, false, are, false, false, false}));
    EXPECT_EQ(SummarizeWaits(trace).idle_ns, are ? 2 * (5 + 3) : 0);
  }
}

// The C library's signal and broadcast wait for threads that they woke.
TEST(WaitsTest, WhoeverNotifiesIsNotIdle) {
  TestTrace t;
  t.AddThread(7, 7, "main");
  const auto worker = t.AddThread(7, 8, "worker");
  t.SetThreadTimes({{.track = worker, .wall_ns = 100}});
  t.AddWait(At(worker, WaitKind::kCondition, 0, 10),
            {"Work", "___pthread_cond_signal", "futex_wait"});
  t.AddWait(At(worker, WaitKind::kCondition, 20, 31),
            {"Work", "___pthread_cond_wait"});
  EXPECT_EQ(IdleWaits(std::move(t).Build()), (std::vector<bool>{false, true}));
}

// It is a process of its own, which waits all the time.
TEST(WaitsTest, HelpersOfPythonWaitForWork) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "python3");
  t.SetThreadTimes({{.track = main, .wall_ns = 100}});
  t.AddWait(
      At(main, WaitKind::kNetwork, 0, 10),
      {"<module> (<string>:1)", "main (resource_tracker.py:179)", "read"});
  t.AddWait(At(main, WaitKind::kRead, 20, 11),
            {"main (resource_tracker.py:179)", "open"});
  t.AddWait(At(main, WaitKind::kNetwork, 40, 31), {"main (app.py:1)", "read"});
  EXPECT_EQ(SummarizeWaits(std::move(t).Build()).idle_ns, 10);
}

// The thread was runnable for 40 of 100, and nobody saw when waits ended.
TEST(WaitsTest, KindsAreNoMoreThanTheBlockedTime) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.SetThreadTimes(
      {{.track = main, .wall_ns = 120, .on_cpu_ns = 20, .runnable_ns = 40}});
  t.AddWait(At(main, WaitKind::kLock, 0, 75));
  t.AddShortWaits(
      {.track = main, .kind = WaitKind::kSleep, .count = 5, .duration_ns = 25});
  TimeByKind expected = {};
  expected[static_cast<size_t>(WaitKind::kLock)] = 45;
  expected[static_cast<size_t>(WaitKind::kSleep)] = 15;
  EXPECT_EQ(SummarizeWaits(std::move(t).Build()).blocked_ns, expected);
}

// Until it was woken, where somebody saw that.
TEST(WaitsTest, AThreadThatIsRunnableIsNotBlocked) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  Wait lock = At(main, WaitKind::kLock, 10, 20);
  lock.runnable_ns = 4;
  t.AddWait(lock);
  Wait preempted = At(main, WaitKind::kCpuBusy, 30, 35);
  preempted.runnable_ns = 5;
  t.AddWait(preempted);
  t.AddShortWaits({.track = main,
                   .kind = WaitKind::kCpuBusy,
                   .count = 1,
                   .duration_ns = 3});
  TimeByKind expected = {};
  expected[static_cast<size_t>(WaitKind::kLock)] = 6;
  EXPECT_EQ(SummarizeWaits(std::move(t).Build()).blocked_ns, expected);
}

TEST(WaitsTest, LocksAreOneOfAProcess) {
  TestTrace t;
  const auto a = t.AddThread(1, 1, "a");
  const auto b = t.AddThread(1, 2, "b");
  const auto other = t.AddThread(3, 3, "other");
  const auto lock = [&](TrackIndex track, uint64_t object, TimeNs begin_ns,
                        TimeNs end_ns) {
    Wait wait = At(track, WaitKind::kLock, begin_ns, end_ns);
    wait.object = object;
    wait.object_name = t.Intern("app.cc:5");
    t.AddWait(wait, {track == a ? "f" : "g"});
  };
  lock(a, 0x10, 0, 5);
  lock(a, 0x20, 5, 9);
  lock(a, 0x10, 10, 12);
  lock(b, 0x10, 0, 9);
  t.AddWait(At(b, WaitKind::kCondition, 20, 90));
  lock(other, 0x10, 0, 3);
  const Trace trace = std::move(t).Build();
  const std::vector<LockWaits> locks = WaitsByLock(trace);
  ASSERT_EQ(locks.size(), 3u);
  EXPECT_EQ(locks[0].pid, 1);
  EXPECT_EQ(locks[0].object, 0x10u);
  EXPECT_EQ(trace.Name(locks[0].name), "app.cc:5");
  EXPECT_EQ(locks[0].count, 3u);
  EXPECT_EQ(locks[0].duration_ns, 16);
  EXPECT_EQ(locks[0].longest_ns, 9);
  EXPECT_THAT(Texts(trace, locks[0].waiters),
              ElementsAre("g lock: 1 of 9, 9", "f lock: 2 of 7, 5"));
  EXPECT_EQ(locks[1].object, 0x20u);
  EXPECT_EQ(locks[2].pid, 3);
}

TEST(WaitsTest, ALockThatProcessesShareIsOne) {
  TestTrace t;
  const auto lock = [&](TrackIndex track, uint64_t object, TimeNs end_ns,
                        const char* name) {
    Wait wait = At(track, WaitKind::kLock, 0, end_ns);
    wait.object = object;
    wait.object_name = t.Intern(name);
    t.AddWait(wait, {"f"});
  };
  lock(t.AddThread(1, 1, "a"), 0x7010, 5, "shared memory+0x10");
  lock(t.AddThread(3, 3, "b"), 0x9010, 4, "shared memory+0x10");
  lock(t.AddThread(5, 5, "c"), 0x9020, 3, "shared memory+0x20");
  const Trace trace = std::move(t).Build();
  const std::vector<LockWaits> locks = WaitsByLock(trace);
  ASSERT_EQ(locks.size(), 2u);
  EXPECT_TRUE(locks[0].is_shared);
  EXPECT_EQ(locks[0].pid, 0);
  EXPECT_EQ(locks[0].duration_ns, 9);
  EXPECT_THAT(Texts(trace, locks[0].waiters), ElementsAre("f lock: 2 of 9, 5"));
  EXPECT_EQ(locks[1].duration_ns, 3);
}

// step      0 - 100
//   load    10 - 40     a read of 15, then runnable for 5; a lock of 8
//   save    50 - 90     a lock of 10 that ends 2 after the range
// after it, a sleep of nobody
Trace Steps(uint8_t flags = 0) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.AddRange(main, "ProfilerStep#3", 0, 100, model::ActivityType::kCpuOp,
             flags);
  t.AddRange(main, "load", 10, 40);
  t.AddInstant(main, "mark", 12);
  t.AddRange(main, "save", 50, 90);
  const auto unknown = t.AddThread(7, 8, "nobody measured it");
  t.AddRange(unknown, "load", 0, 100);
  t.SetThreadTimes({{.track = main, .wall_ns = 200, .on_cpu_ns = 100}});
  Wait read = At(main, WaitKind::kRead, 15, 35);
  read.runnable_ns = 5;
  t.AddWait(read);
  t.AddWait(At(main, WaitKind::kLock, 36, 40));
  t.AddWait(At(main, WaitKind::kLock, 82, 92));
  t.AddWait(At(main, WaitKind::kSleep, 120, 150));
  return std::move(t).Build();
}

TEST(WaitsTest, ARangeHasTheWaitsOfRangesInsideIt) {
  // By event: the step, load, the mark, save; then the other thread's.
  EXPECT_THAT(WaitTimesOfRanges(Steps()),
              ElementsAre(34, 24, kNoWaitTime, 8, kNoWaitTime));
}

TEST(WaitsTest, TheTimeOfARangeIsOnCpuRunnableOrBlocked) {
  const std::vector<RangeSplit> ranges = SplitRanges(Steps());
  ASSERT_EQ(ranges.size(), 3u);
  const RangeSplit& step = ranges[0];
  EXPECT_EQ(step.name, "ProfilerStep*");
  EXPECT_EQ(step.count, 1u);
  EXPECT_EQ(step.duration_ns, 100);
  EXPECT_EQ(step.on_cpu_ns, 66);
  EXPECT_EQ(step.runnable_ns, 5);
  EXPECT_EQ(Blocked(step, WaitKind::kRead), 15);
  EXPECT_EQ(Blocked(step, WaitKind::kLock), 14);
  EXPECT_EQ(step.all_blocked_ns(), 29);
  const RangeSplit& load = ranges[1];
  EXPECT_EQ(load.name, "load");
  EXPECT_EQ(load.count, 1u);
  EXPECT_EQ(load.on_cpu_ns, 6);
  EXPECT_EQ(load.runnable_ns, 5);
  EXPECT_EQ(Blocked(load, WaitKind::kLock), 4);
  const RangeSplit& save = ranges[2];
  EXPECT_EQ(save.name, "save");
  EXPECT_EQ(save.on_cpu_ns, 32);
  EXPECT_EQ(Blocked(save, WaitKind::kLock), 8);
}

TEST(WaitsTest, ARepeatedRangeCountsInAnotherWindow) {
  const std::vector<RangeSplit> ranges =
      SplitRanges(Steps(model::kEventRepeated));
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].name, "load");
}

TEST(WaitsTest, ATraceWithoutWaitsHasNone) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.AddRange(main, "f", 0, 10);
  t.SetThreadTimes({{.track = main, .wall_ns = 10}});
  const Trace trace = std::move(t).Build();
  EXPECT_THAT(WaitsByPlace(trace), IsEmpty());
  EXPECT_TRUE(WaitsByLock(trace).empty());
  EXPECT_TRUE(SplitRanges(trace).empty());
  EXPECT_THAT(WaitTimesOfRanges(trace), IsEmpty());
  EXPECT_EQ(SummarizeWaits(trace).idle_ns, 0);
}

}  // namespace
}  // namespace kymo::analysis
