#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"
#include "profiler/model/thread_states.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

constexpr int64_t kMs = kNsPerMs;

// Threads that run `Work` for so many milliseconds each, in a run of 1 s.
TestTrace Work(const std::vector<int64_t>& ms, int64_t window_ms = 1000) {
  TestTrace t;
  t.SetWindow(0, window_ms * kMs);
  for (size_t i = 0; i < ms.size(); ++i) {
    const auto track =
        t.AddThread(1, 2 + static_cast<int64_t>(i), "w" + std::to_string(i));
    t.AddRange(track, "Work", 0, ms[i] * kMs);
  }
  return t;
}

size_t CountOf(TestTrace t) {
  return Found(std::move(t), FindingKind::kLoadImbalance).size();
}

TEST(ImbalanceFindingsTest, AThreadThatHasMoreToDo) {
  const auto found =
      Found(Work({400, 900, 400, 300}), FindingKind::kLoadImbalance);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "4 threads that ran Work had uneven work: the thread w1 (3) was "
            "busy for 900 ms, on average they were for 500 ms");
  EXPECT_EQ(found[0].time_ns, 400 * kMs);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kInterval);
  EXPECT_EQ(found[0].evidence.track, 1u);
  EXPECT_EQ(found[0].evidence.duration_ns, 900 * kMs);
}

TEST(ImbalanceFindingsTest, ThreadsThatTakeTurnsAreNotUneven) {
  TestTrace t;
  t.SetWindow(0, 1000 * kMs);
  t.AddRange(t.AddThread(1, 2, "a"), "Work", 0, 600 * kMs);
  t.AddRange(t.AddThread(1, 3, "b"), "Work", 600 * kMs, 800 * kMs);
  EXPECT_EQ(CountOf(std::move(t)), 0u);
}

TEST(ImbalanceFindingsTest, AFifthMoreThanTheMeanIsUneven) {
  EXPECT_EQ(CountOf(Work({600, 400})), 1u);  // 100 over 500
  EXPECT_EQ(CountOf(Work({599, 401})), 0u);
}

TEST(ImbalanceFindingsTest, ATwentiethOfTheRunMatters) {
  EXPECT_EQ(CountOf(Work({300, 100}, 2000)), 1u);
  EXPECT_EQ(CountOf(Work({300, 100}, 2001)), 0u);
}

TEST(ImbalanceFindingsTest, AThreadThatTookNoPartDoesNotCount) {
  EXPECT_EQ(CountOf(Work({500, 5})), 1u);
  EXPECT_EQ(CountOf(Work({500, 4})), 0u);
}

TEST(ImbalanceFindingsTest, OtherWorkAndOtherProcessesAreNotCompared) {
  TestTrace t;
  t.AddRange(t.AddThread(1, 1, "main"), "Work", 0, 900 * kMs);
  t.AddRange(t.AddThread(1, 2, "io"), "Log", 0, 100 * kMs);
  t.AddRange(t.AddThread(2, 3, "main"), "Work", 0, 100 * kMs);
  EXPECT_EQ(CountOf(std::move(t)), 0u);
}

TEST(ImbalanceFindingsTest, ThreadsThatMostlyWaitBoundNothing) {
  const auto with_gap = [](int64_t end_ms) {
    TestTrace t;
    t.SetWindow(0, 1000 * kMs);
    const auto a = t.AddThread(1, 2, "a");
    t.AddRange(a, "Work", 0, 200 * kMs);
    t.AddRange(a, "Work", (end_ms - 100) * kMs, end_ms * kMs);
    t.AddRange(t.AddThread(1, 3, "b"), "Work", 0, 100 * kMs);
    return CountOf(std::move(t));
  };
  EXPECT_EQ(with_gap(600), 1u);  // busy for 300 ms of 600 ms
  EXPECT_EQ(with_gap(602), 0u);
}

TEST(ImbalanceFindingsTest, EachStepIsOneByItself) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 4; ++i) {
    t.AddRange(main, "ProfilerStep#" + std::to_string(i), i * 100 * kMs,
               (i + 1) * 100 * kMs);
  }
  // Each thread has much to do in every other step: equal sums.
  for (int thread = 0; thread < 2; ++thread) {
    const auto track = t.AddThread(1, 2 + thread, "w");
    for (int i = 0; i < 4; ++i) {
      const int64_t ms = i % 2 == thread ? 90 : 10;
      t.AddRange(track, "Work", i * 100 * kMs, (i * 100 + ms) * kMs);
    }
  }
  const auto found = Found(std::move(t), FindingKind::kLoadImbalance);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "2 threads that ran Work had uneven work: over 4 steps, the "
            "busiest thread of each was busy for 360 ms, on average they were "
            "for 200 ms");
  EXPECT_EQ(found[0].time_ns, 160 * kMs);
  EXPECT_EQ(found[0].evidence.track, 1u);
  EXPECT_EQ(found[0].evidence.begin_ns, 0);
}

TEST(ImbalanceFindingsTest, WaitsAreNoWork) {
  TestTrace t = Work({900, 900});
  EXPECT_EQ(CountOf(Work({900, 900})), 0u);
  t.SetThreadTimes(
      {{.track = 0, .wall_ns = kMs}, {.track = 1, .wall_ns = kMs}});
  t.AddWait({.track = 1,
             .kind = model::WaitKind::kCondition,
             .begin_ns = 0,
             .duration_ns = 500 * kMs});
  const auto found = Found(std::move(t), FindingKind::kLoadImbalance);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].time_ns, 250 * kMs);
}

// Two threads with so many samples of 1 ms, in functions below `Work`.
TestTrace Sampled(int a, int b, const char* other = "Work") {
  TestTrace t;
  t.SetWindow(0, 1000 * kMs);
  const auto first = t.AddThread(1, 2, "a");
  const auto second = t.AddThread(1, 3, "b");
  const auto add = [&](model::TrackIndex track, int count, const char* work) {
    const model::StackId start =
        t.Stack({"start_thread"}, "/usr/lib/libc.so.6");
    const model::StackId stack = t.data().stacks.Push(
        start, t.data().stacks.AddFrame({.function = t.Intern(work),
                                         .module = t.Intern("/bin/app")}));
    for (int i = 0; i < count; ++i) {
      t.data().samples.push_back({track, stack, i * kMs, kMs});
    }
  };
  add(first, a, "Work");
  add(second, b, other);
  return t;
}

TEST(ImbalanceFindingsTest, SamplesTellThreadsByTheirOutermostFunction) {
  const auto found = Found(Sampled(900, 300), FindingKind::kLoadImbalance);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].time_ns, 300 * kMs);
  EXPECT_TRUE(found[0].title.starts_with("2 threads that ran Work had uneven"));
  EXPECT_EQ(CountOf(Sampled(900, 300, "Log")), 0u);
}

TEST(ImbalanceFindingsTest, WhatChanceMakesIsNotUneven) {
  // 30 of a mean of 70: four deviations of 100 are 40.
  EXPECT_EQ(CountOf(Sampled(100, 40)), 0u);
  // 60 of a mean of 140: four deviations of 200 are 56.6.
  EXPECT_EQ(CountOf(Sampled(200, 80)), 1u);
}

// Two threads that ran for 300 and 100 ms in the last function, below the
// others, outermost first; each with its module.
size_t CountBelow(
    const std::vector<std::pair<const char*, const char*>>& functions) {
  TestTrace t;
  t.SetWindow(0, 1000 * kMs);
  model::StackId stack = t.Stack({"start_thread"}, "/usr/lib/libc.so.6");
  for (const auto& [function, module] : functions) {
    // The module of Python's functions is their file.
    const char* const file =
        std::string_view(module).ends_with(".py") ? module : "";
    stack = t.data().stacks.Push(
        stack, t.data().stacks.AddFrame({.function = t.Intern(function),
                                         .file = t.Intern(file),
                                         .module = t.Intern(module)}));
  }
  for (const int count : {300, 100}) {
    const auto track = t.AddThread(1, count, "w");
    for (int i = 0; i < count; ++i) {
      t.data().samples.push_back({track, stack, i * kMs, kMs});
    }
  }
  return CountOf(std::move(t));
}

// Machines of other languages start all of their threads in the same functions.
TEST(ImbalanceFindingsTest, AMachinesFunctionsAreNoWork) {
  constexpr char kJava[] = "/usr/lib/jvm/java-17/lib/server/libjvm.so";
  const std::pair<const char*, const char*> start = {
      "thread_native_entry(Thread*)", kJava};
  EXPECT_EQ(CountBelow({start}), 0u);
  EXPECT_EQ(CountBelow({start, {"[anon]", "[anon]"}}), 0u);
  EXPECT_EQ(CountBelow({start,
                        {"StubRoutines (1)", "[jit]"},
                        {"Interpreter", "[jit]"},
                        {"long T.fib(int)", "[jit]"}}),
            0u);
  EXPECT_EQ(CountBelow({start,
                        {"StubRoutines (1)", "[jit]"},
                        {"void java.lang.Thread.run()", "[jit]"},
                        {"void T.work()", "[jit]"}}),
            1u);
  EXPECT_EQ(
      CountBelow({{"node::Start()", "/usr/bin/node"},
                  {"Builtins_InterpreterEntryTrampoline", "/usr/bin/node"},
                  {"fib", "[jit]"}}),
      0u);
  // Of another program that is called so.
  EXPECT_EQ(CountBelow({{"node::Work()", "/srv/bin/node"}}), 1u);
  EXPECT_EQ(
      CountBelow({{"runtime.goexit", "/srv/app"}, {"main.work", "/srv/app"}}),
      0u);
  // Stacks of C end there.
  EXPECT_EQ(CountBelow({{"runtime.asmcgocall.abi0", "/srv/app"},
                        {"deflate", "/lib/libz.so.1"}}),
            0u);
  EXPECT_EQ(CountBelow({{"PyEval_EvalCode", "/usr/bin/python3.11"},
                        {"work (a.py:3)", "/srv/a.py"}}),
            1u);
  EXPECT_EQ(CountBelow({{"work (python_jobs.py:3)", "/srv/python_jobs.py"}}),
            1u);
}

}  // namespace
}  // namespace kymo::analysis
