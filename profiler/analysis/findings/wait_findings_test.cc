#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"
#include "profiler/analysis/waits.h"
#include "profiler/model/thread_states.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::WaitKind;

constexpr int64_t kMs = kNsPerMs;

// A run of 1 s of two threads, `main` and `worker`.
struct Threads {
  explicit Threads(DurationNs worker_on_cpu_ns = 0, uint32_t cpus = 8,
                   DurationNs worker_runnable_ns = 0) {
    t.SetWindow(0, 1000 * kMs);
    t.AddProcess(7, "app");
    main = t.AddThread(7, 7, "main");
    worker = t.AddThread(7, 8, "worker");
    t.SetThreadTimes({{.track = main, .wall_ns = 1000 * kMs},
                      {.track = worker,
                       .wall_ns = 1000 * kMs,
                       .on_cpu_ns = worker_on_cpu_ns,
                       .runnable_ns = worker_runnable_ns}},
                     cpus);
  }
  void Wait(model::TrackIndex track, WaitKind kind, int64_t begin_ms,
            DurationNs ns, std::initializer_list<std::string_view> frames) {
    t.AddWait({.track = track,
               .kind = kind,
               .begin_ns = begin_ms * kMs,
               .duration_ns = ns,
               .object = 0x1f},
              frames);
  }

  TestTrace t;
  model::TrackIndex main;
  model::TrackIndex worker;
};

TEST(WaitFindingsTest, ALockAndWhereThreadsWaitedForIt) {
  Threads threads;
  threads.Wait(threads.main, WaitKind::kLock, 100, 300 * kMs, {"main", "Get"});
  threads.Wait(threads.worker, WaitKind::kLock, 50, 100 * kMs, {"main", "Put"});
  const auto found = Found(std::move(threads.t), FindingKind::kLockContention);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Threads waited 400 ms for the lock 0x1f, in 2 waits; 75 % of that "
            "in Get");
  EXPECT_EQ(found[0].time_ns, 400 * kMs);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kInterval);
  EXPECT_EQ(found[0].evidence.name, "Get");
  EXPECT_EQ(found[0].evidence.table, "locks");
  EXPECT_EQ(found[0].evidence.track, threads.main);
  EXPECT_EQ(found[0].evidence.begin_ns, 100 * kMs);
  EXPECT_EQ(found[0].evidence.duration_ns, 300 * kMs);
  EXPECT_NE(found[0].evidence.stack, model::kEmptyStack);
}

TEST(WaitFindingsTest, OfPythonsLockTheNextStepIsAnother) {
  const auto next_step = [](std::string_view name) {
    Threads threads;
    threads.t.AddWait({.track = threads.worker,
                       .kind = WaitKind::kLock,
                       .duration_ns = 300 * kMs,
                       .object = 0x1f,
                       .object_name = threads.t.Intern(name)});
    const auto found =
        Found(std::move(threads.t), FindingKind::kLockContention);
    return found.empty() ? "" : found[0].next_step;
  };
  EXPECT_TRUE(next_step("GIL").starts_with("Python runs one thread"));
  EXPECT_TRUE(next_step("GILDED").starts_with("Hold the lock"));
}

TEST(WaitFindingsTest, ALockOfLessThanATwentiethOfTheRunDoesNotMatter) {
  const auto found_with = [](DurationNs ns) {
    Threads threads;
    threads.Wait(threads.main, WaitKind::kLock, 100, ns, {"main"});
    return Found(std::move(threads.t), FindingKind::kLockContention).size();
  };
  EXPECT_EQ(found_with(50 * kMs), 1u);
  EXPECT_EQ(found_with(50 * kMs - 1), 0u);
}

TEST(WaitFindingsTest, WaitsOfOnePlaceAddUpOverStacks) {
  Threads threads;
  threads.Wait(threads.main, WaitKind::kRead, 100, 30 * kMs, {"a", "Load"});
  threads.Wait(threads.main, WaitKind::kRead, 200, 40 * kMs, {"b", "Load"});
  const auto found = Found(std::move(threads.t), FindingKind::kThreadWait);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Threads waited 70.0 ms in Load (read), in 2 waits of at most 40.0 "
            "ms");
  EXPECT_TRUE(found[0].next_step.starts_with("Read ahead"));
  EXPECT_EQ(found[0].evidence.begin_ns, 200 * kMs);
}

// Only kinds that somebody can do something about, and each says what.
TEST(WaitFindingsTest, KindsOfWaits) {
  int with_step = 0;
  for (size_t kind = 0; kind <= static_cast<size_t>(model::kLastWaitKind);
       ++kind) {
    Threads threads;
    threads.Wait(threads.main, static_cast<WaitKind>(kind), 100, 500 * kMs,
                 {"main", "f"});
    const model::Trace trace = std::move(threads.t).Build();
    const auto waits = Found(trace, FindingKind::kThreadWait);
    const bool is_fault = static_cast<WaitKind>(kind) == WaitKind::kPageFault;
    EXPECT_EQ(Found(trace, FindingKind::kPageFaults).size(),
              is_fault ? 1u : 0u);
    for (const Finding& finding : waits)
      EXPECT_FALSE(finding.next_step.empty());
    with_step += static_cast<int>(waits.size());
  }
  EXPECT_EQ(with_step, 6);  // sleep, read, write, poll, network, pipe
}

TEST(WaitFindingsTest, AThreadWithoutRangesMaySleepBetweenItsTurns) {
  Threads threads;
  threads.Wait(threads.worker, WaitKind::kSleep, 100, 500 * kMs, {"Beat"});
  EXPECT_TRUE(Found(std::move(threads.t), FindingKind::kThreadWait).empty());
  Threads with_range;
  with_range.t.AddRange(with_range.worker, "Request", 0, 900 * kMs);
  with_range.Wait(with_range.worker, WaitKind::kSleep, 100, 500 * kMs,
                  {"Beat"});
  EXPECT_EQ(Found(std::move(with_range.t), FindingKind::kThreadWait).size(),
            1u);
}

// A thread's own pauses make nobody wait, but the table of waits has them.
TEST(WaitFindingsTest, AFindingHasTheTimeOfItsRowInTheTable) {
  Threads threads;
  threads.Wait(threads.main, WaitKind::kSleep, 100, 100 * kMs, {"a", "Nap"});
  threads.Wait(threads.worker, WaitKind::kSleep, 100, 500 * kMs, {"b", "Nap"});
  const model::Trace trace = std::move(threads.t).Build();
  const auto found = Found(trace, FindingKind::kThreadWait);
  ASSERT_EQ(found.size(), 1u);
  DurationNs table_ns = 0;
  for (const WaitGroup& group : WaitsByPlace(trace)) {
    table_ns += group.duration_ns;
  }
  EXPECT_EQ(found[0].time_ns, table_ns);
  EXPECT_TRUE(found[0].title.starts_with("Threads waited 600 ms in Nap"))
      << found[0].title;
}

TEST(WaitFindingsTest, IdleWaitsAreNone) {
  Threads threads;
  threads.Wait(threads.worker, WaitKind::kPoll, 100, 500 * kMs, {"main", "f"});
  EXPECT_TRUE(Found(std::move(threads.t), FindingKind::kThreadWait).empty());
}

TEST(WaitFindingsTest, ShortWaitsHaveAStackAsEvidence) {
  Threads threads;
  threads.t.AddShortWaits({.track = threads.main,
                           .kind = WaitKind::kRead,
                           .count = 10'000,
                           .duration_ns = 100 * kMs,
                           .longest_ns = 20'000},
                          {"main", "Load"});
  const auto found = Found(std::move(threads.t), FindingKind::kThreadWait);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kStack);
  EXPECT_EQ(found[0].evidence.name, "Load");
}

// Main waits 800 ms for a worker that uses `on_cpu_ns`.
std::vector<Finding> Serial(DurationNs on_cpu_ns, uint32_t cpus,
                            DurationNs quota_ns = 0,
                            DurationNs runnable_ns = 0) {
  Threads threads(on_cpu_ns, cpus, runnable_ns);
  threads.t.SetCpuLimit({.quota_ns = quota_ns, .period_ns = 100 * kMs});
  threads.Wait(threads.main, WaitKind::kCondition, 100, 800 * kMs,
               {"main", "Join"});
  return Found(std::move(threads.t), FindingKind::kSerialPart);
}

TEST(WaitFindingsTest, AThreadThatWaitsWhileOneOtherWorks) {
  const auto found = Serial(760 * kMs, 8);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "The thread main (7) waited 800 ms for other threads, mostly in "
            "Join; these used at most 0.9 of 8 CPUs in that time");
  EXPECT_EQ(found[0].time_ns, 800 * kMs);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kInterval);
  EXPECT_EQ(found[0].evidence.track, 0u);
}

TEST(WaitFindingsTest, ThreadsThatWorkTogetherAreNoSerialPart) {
  EXPECT_EQ(Serial(1200 * kMs - 1, 8).size(), 1u);
  EXPECT_TRUE(Serial(1200 * kMs, 8).empty());  // 1.5 CPUs
  // Or would, if other programs did not have the CPUs.
  EXPECT_EQ(Serial(760 * kMs, 8, 0, 440 * kMs - 1).size(), 1u);
  EXPECT_TRUE(Serial(760 * kMs, 8, 0, 440 * kMs).empty());
}

TEST(WaitFindingsTest, IfOthersHardlyWorkItWaitsForSomethingElse) {
  EXPECT_EQ(Serial(400 * kMs, 8).size(), 1u);
  EXPECT_TRUE(Serial(400 * kMs - 1, 8).empty());
}

TEST(WaitFindingsTest, OnOneCpuNothingRunsAtOnce) {
  EXPECT_EQ(Serial(760 * kMs, 2).size(), 1u);
  EXPECT_TRUE(Serial(760 * kMs, 1).empty());
  EXPECT_TRUE(Serial(760 * kMs, 0).empty());  // not known
  // A limit of one of eight CPUs is the same.
  EXPECT_TRUE(Serial(760 * kMs, 8, 100 * kMs).empty());
  const auto found = Serial(760 * kMs, 8, 250 * kMs);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find(" of 2.5 CPUs "), std::string::npos);
}

std::vector<Finding> Shortage(DurationNs runnable_ns, DurationNs on_cpu_ns,
                              int64_t ranks = 0, DurationNs kymo_ns = 0) {
  TestTrace t;
  t.SetWindow(0, 1000 * kMs);
  const auto main = t.AddThread(7, 7, "main");
  const auto worker = t.AddThread(7, 8, "worker");
  t.SetThreadTimes({{.track = main, .wall_ns = 1000 * kMs},
                    {.track = worker,
                     .wall_ns = 4000 * kMs,
                     .on_cpu_ns = on_cpu_ns,
                     .runnable_ns = runnable_ns}},
                   2);
  t.SetKymoCpu(kymo_ns);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    t.AddInstant(t.AddThread(100 + rank, 100 + rank, "main"), "MPI ranks", kMs);
    t.Describe(0, {model::Arg::Int(t.Intern("rank"), rank),
                   model::Arg::Int(t.Intern("size"), ranks)});
  }
  return Found(std::move(t), FindingKind::kCpuShortage);
}

TEST(WaitFindingsTest, ThreadsThatWaitForACpu) {
  const auto found = Shortage(200 * kMs, 1000 * kMs);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Threads that could run waited 200 ms while other programs had the "
            "CPUs, and ran for 1.00 s, with 2 threads on 2 CPUs");
  EXPECT_TRUE(found[0].next_step.starts_with("End what else runs"));
  EXPECT_EQ(found[0].evidence.name, "thread worker (8)");
  EXPECT_EQ(found[0].evidence.table, "threads");
  const auto title = [](DurationNs kymo_ns) {
    return Shortage(200 * kMs, 1000 * kMs, 0, kymo_ns)[0].title;
  };
  EXPECT_EQ(title(99 * kMs), found[0].title);
  EXPECT_EQ(title(100 * kMs).find(" while Kymo itself had a CPU, and "), 36u);
}

// Each rank may have had the same CPUs, or its own.
TEST(WaitFindingsTest, TheCpusOfAJobAreNotKnown) {
  const auto found = Shortage(200 * kMs, 1000 * kMs, /*ranks=*/2);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Threads that could run waited 200 ms for a CPU, and ran for 1.00 "
            "s, in a job of 2 threads");
  EXPECT_EQ(found[0].next_step,
            "Use no more threads than CPUs, or end what else runs on the "
            "machine");
}

// Of six threads that ran for 1.5 s on two CPUs, four can have waited for
// 0.75 s each, since the program itself had both.
TEST(WaitFindingsTest, OtherProgramsHadTheCpusIfOnesOwnThreadsCannotHaveThem) {
  const auto title = [](DurationNs runnable_ns, TimeNs apart_ns) {
    TestTrace t;
    t.SetWindow(0, 100'000 * kMs);
    std::vector<model::ThreadTimes> threads;
    for (int i = 0; i < 6; ++i) {
      threads.push_back({.track = t.AddThread(7, 7 + i, "worker"),
                         .wall_ns = 10'000 * kMs,
                         .on_cpu_ns = 250 * kMs,
                         .runnable_ns = runnable_ns / 6,
                         .begin_ns = 1 + i * apart_ns});
    }
    t.SetThreadTimes(std::move(threads), 2);
    const auto found = Found(std::move(t), FindingKind::kCpuShortage);
    return found.empty() ? "" : found[0].title;
  };
  constexpr std::string_view kOthers = "while other programs had the CPUs";
  EXPECT_EQ(title(5'990 * kMs, 0).find(kOthers), std::string::npos);
  EXPECT_NE(title(6'020 * kMs, 0).find(kOthers), std::string::npos);
  // One after the other, none waits for another.
  EXPECT_NE(title(5'990 * kMs, 10'000 * kMs).find(kOthers), std::string::npos);
}

// Two threads on two CPUs, in a group that may use half of a CPU.
Finding Limited(model::CpuLimit limit) {
  TestTrace t;
  t.SetWindow(0, 8'000 * kMs);
  const auto main = t.AddThread(7, 7, "main");
  const auto worker = t.AddThread(7, 8, "worker");
  model::ThreadTimes times = {.track = main,
                              .wall_ns = 8'000 * kMs,
                              .on_cpu_ns = 2'000 * kMs,
                              .runnable_ns = 3'000 * kMs};
  std::vector<model::ThreadTimes> threads = {times};
  times.track = worker;
  threads.push_back(times);
  t.SetThreadTimes(std::move(threads), 2);
  limit.quota_ns = 50 * kMs;
  limit.period_ns = 100 * kMs;
  t.SetCpuLimit(limit);
  const auto found = Found(std::move(t), FindingKind::kCpuShortage);
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? Finding() : found[0];
}

TEST(WaitFindingsTest, TheLimitOfTheContainerStoppedThreads) {
  const Finding found = Limited(
      {.periods = 80, .throttled_periods = 79, .throttled_ns = 6'000 * kMs});
  EXPECT_EQ(found.title,
            "Threads that could run waited 6.00 s because of a CPU limit, and "
            "ran for 4.00 s, with 2 threads on 2 CPUs; the "
            "container's CPU limit (cgroup, 0.5 CPUs) stopped threads in 79 of "
            "80 periods of 100 ms");
  EXPECT_EQ(found.next_step,
            "Raise the container's CPU limit (cpu.max; --cpus of docker, "
            "resources.limits.cpu of Kubernetes), or use fewer threads");
}

// In half of the periods, or for half of the time that threads waited, one of
// each CPU at least.
TEST(WaitFindingsTest, TheLimitIsTheCauseFromAHalfOn) {
  constexpr std::string_view kLimit = "because of a CPU limit";
  constexpr std::string_view kOthers = "while other programs had the CPUs";
  constexpr std::string_view kEnd = "10 of 20 periods of 100 ms";
  const Finding half = Limited(
      {.periods = 20, .throttled_periods = 10, .throttled_ns = 400 * kMs});
  EXPECT_NE(half.title.find(kLimit), std::string::npos) << half.title;
  EXPECT_TRUE(half.title.ends_with(kEnd)) << half.title;
  const Finding seldom = Limited(
      {.periods = 90, .throttled_periods = 40, .throttled_ns = 3'000 * kMs});
  EXPECT_NE(seldom.title.find(kLimit), std::string::npos) << seldom.title;

  // Both threads may have waited for 1.5 s each.
  const Finding unknown = Limited(
      {.periods = 90, .throttled_periods = 40, .throttled_ns = 1'500 * kMs});
  EXPECT_TRUE(unknown.title.starts_with(
      "Threads that could run waited 6.00 s for a CPU, and ran"))
      << unknown.title;
  EXPECT_TRUE(unknown.title.ends_with("40 of 90 periods of 100 ms"));
  const Finding others = Limited(
      {.periods = 90, .throttled_periods = 40, .throttled_ns = 1'490 * kMs});
  EXPECT_NE(others.title.find(kOthers), std::string::npos) << others.title;
  EXPECT_TRUE(others.title.ends_with("40 of 90 periods of 100 ms"));
  EXPECT_EQ(others.next_step,
            "End what else runs on the machine, or raise the limit of CPU time "
            "that the container may have");
  // Threads cannot have been stopped for longer than the periods.
  const Finding short_stops = Limited(
      {.periods = 90, .throttled_periods = 14, .throttled_ns = 2'900 * kMs});
  EXPECT_NE(short_stops.title.find(kOthers), std::string::npos)
      << short_stops.title;
}

TEST(WaitFindingsTest, ALimitThatHardlyStoppedThreadsIsNotSaid) {
  for (const DurationNs throttled_ns : {DurationNs{0}, 399 * kMs}) {
    const Finding found = Limited({.periods = 2,
                                   .throttled_periods = throttled_ns > 0,
                                   .throttled_ns = throttled_ns});
    EXPECT_EQ(found.title,
              "Threads that could run waited 6.00 s while other programs had "
              "the CPUs, and ran for 4.00 s, with 2 threads on 2 "
              "CPUs");
    EXPECT_EQ(found.next_step, "End what else runs on the machine");
  }
}

TEST(WaitFindingsTest, APollThatMayBeIdleComesLast) {
  Threads threads;
  threads.Wait(threads.main, WaitKind::kPoll, 100, 500 * kMs, {"main", "Loop"});
  threads.Wait(threads.main, WaitKind::kRead, 700, 100 * kMs, {"main", "Load"});
  const auto found = Found(std::move(threads.t), FindingKind::kThreadWait);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].title.starts_with("Threads waited 100 ms in Load"));
  EXPECT_TRUE(found[1].next_step.starts_with("If it waits for answers"));
  EXPECT_TRUE(found[1].next_step.ends_with("it is idle"));
}

TEST(WaitFindingsTest, ATenthOfTheCpuTimeIsAShortage) {
  EXPECT_EQ(Shortage(100 * kMs, 1000 * kMs).size(), 1u);
  EXPECT_TRUE(Shortage(100 * kMs - 1, 1000 * kMs).empty());
  EXPECT_EQ(Shortage(50 * kMs, 100 * kMs).size(), 1u);
  EXPECT_TRUE(Shortage(50 * kMs - 1, 100 * kMs).empty());  // of the run
}

}  // namespace
}  // namespace kymo::analysis
