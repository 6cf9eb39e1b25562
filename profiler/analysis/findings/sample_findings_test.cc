#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"
#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A run of 1 s with samples of 1 ms: `hot` of them in Parse, three quarters of
// these called by Read, and the others each in a function of its own.
TestTrace Samples(int hot, int others) {
  TestTrace t;
  t.SetWindow(0, kNsPerSecond);
  const auto main = t.AddThread(1, 1, "main");
  TimeNs now = 0;
  for (int i = 0; i < hot; ++i, now += kNsPerMs) {
    const bool by_read = i % 4 != 3;
    t.AddSample(main, now, kNsPerMs,
                {"main", by_read ? "Read" : "Write", "Parse", "Parse"});
  }
  for (int i = 0; i < others; ++i, now += kNsPerMs) {
    t.AddSample(main, now, kNsPerMs, {"main", "f" + std::to_string(i)});
  }
  return t;
}

TEST(SampleFindingsTest, AHotFunctionWithItsCaller) {
  TestTrace t = Samples(400, 400);
  const model::StackId stack = t.Stack({"main", "Read", "Parse", "Parse"});
  const auto found = Found(std::move(t), FindingKind::kHotFunction);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Parse took 50 % of the CPU time (400 ms); 75 % of that when Read "
            "called it");
  EXPECT_EQ(found[0].time_ns, 400 * kNsPerMs);
  EXPECT_EQ(found[0].share, 0.4);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kStack);
  EXPECT_EQ(found[0].evidence.name, "Parse");
  EXPECT_EQ(found[0].evidence.stack, stack);
}

// The title of 200 samples of this stack and 50 of another.
std::string TitleOf(std::initializer_list<std::string_view> stack) {
  TestTrace t;
  t.SetWindow(0, kNsPerSecond);
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 250; ++i) {
    if (i < 200) t.AddSample(main, i * kNsPerMs, kNsPerMs, stack);
    if (i >= 200) t.AddSample(main, i * kNsPerMs, kNsPerMs, {"Other"});
  }
  const auto found = Found(std::move(t), FindingKind::kHotFunction);
  return found.empty() ? "" : found[0].title;
}

TEST(SampleFindingsTest, TheCallerIsAFunctionOfTheProgram) {
  const std::string alone = "Less took 80 % of the CPU time (200 ms)";
  const std::string by_load = alone + "; 100 % of that when Load called it";
  EXPECT_EQ(TitleOf({"main", "Load", "std::sort<int*>(int*, int*)",
                     "void std::__introsort_loop<int*>(int*, int*)",
                     "bool __gnu_cxx::__ops::_Iter_comp_iter<Less>::operator()"
                     "<int*>(int*, int*)",
                     "Less"}),
            by_load);
  EXPECT_EQ(TitleOf({"main", "Load", "void std::__invoke_impl<void, L>(L&&)",
                     "Less"}),
            by_load);
  // Nobody but the library started the thread.
  EXPECT_EQ(TitleOf({"std::thread::_State_impl<L>::_M_run()",
                     "void std::__invoke_impl<void, L>(L&&)", "Less"}),
            alone);
  EXPECT_EQ(TitleOf({"Less", "Less"}), alone);
  // Marks for callers that are not known are no functions.
  EXPECT_EQ(TitleOf({"[truncated]", "Less", "Less"}), alone);
  EXPECT_EQ(TitleOf({"[cut]", "Less"}), alone);
}

TEST(SampleFindingsTest, KymosOwnCodeIsNoFunctionOfTheProgram) {
  EXPECT_EQ(TitleOf({"main", "Grow", "[Kymo]"}),
            "Kymo itself took 80 % of the CPU time (200 ms); 100 % of that "
            "when Grow called it");
}

// Sampling helps only if there is something to sample.
TEST(SampleFindingsTest, HowKymoTakesLessDependsOnWhatItRecords) {
  const auto step = [](double interval, bool has_memory) {
    TestTrace t;
    t.SetWindow(0, kNsPerSecond);
    const auto main = t.AddThread(1, 1, "main");
    for (int i = 0; i < 250; ++i) {
      t.AddSample(main, i * kNsPerMs, kNsPerMs, {"main", "[Kymo]"});
    }
    TestMemory memory;
    if (has_memory) memory.Allocate({.track = main, .bytes = 64}, 10);
    t.data().memory_sample_interval = interval;
    std::move(memory).AddTo(t.data());
    const auto found = Found(std::move(t), FindingKind::kHotFunction);
    return found.empty() ? std::string() : found[0].next_step;
  };
  EXPECT_THAT(step(0, true), HasSubstr("--memory_mode=sampled"));
  EXPECT_THAT(step(512, true), Not(HasSubstr("--memory_mode")));
  EXPECT_THAT(step(0, false), AllOf(HasSubstr("fewer --activities"),
                                    Not(HasSubstr("--memory_mode"))));
}

TEST(SampleFindingsTest, SamplesThatWereAddedUpCount) {
  TestTrace t = Samples(400, 0);
  t.AddUpSamples();
  const auto main = model::TrackIndex{0};
  for (int i = 0; i < 200; ++i) {
    t.AddSample(main, (500 + i) * kNsPerMs, kNsPerMs, {"main", "Other"});
  }
  const auto found = Found(std::move(t), FindingKind::kHotFunction);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].title,
            "Parse took 67 % of the CPU time (400 ms); 75 % of that when Read "
            "called it");
}

TEST(SampleFindingsTest, AFifthOfTheCpuTimeIsHot) {
  EXPECT_EQ(Found(Samples(200, 800), FindingKind::kHotFunction).size(), 1u);
  EXPECT_TRUE(Found(Samples(199, 801), FindingKind::kHotFunction).empty());
}

TEST(SampleFindingsTest, ATwentiethOfTheRunMatters) {
  EXPECT_EQ(Found(Samples(50, 50), FindingKind::kHotFunction).size(), 1u);
  // 49 and 51 samples of 1 ms in a run of 1 s.
  EXPECT_TRUE(Found(Samples(49, 51), FindingKind::kHotFunction).empty());
}

TEST(SampleFindingsTest, FewerThanAHundredSamplesSayNothing) {
  EXPECT_TRUE(Found(Samples(99, 0), FindingKind::kHotFunction).empty());
  EXPECT_EQ(Found(Samples(100, 0), FindingKind::kHotFunction).size(), 1u);
}

// A run of 1 s with samples of 1 ms, `with` in functions that have names, none
// of them hot, and `without` in three that have none.
TestTrace Unnamed(int with, int without) {
  TestTrace t = Samples(0, with);
  const char* const functions[] = {"liba.so+0x10", "libb.so+0x20",
                                   "liba.so+0x30"};
  for (int i = 0; i < without; ++i) {
    t.AddSample(model::TrackIndex{0}, (with + i) * kNsPerMs, kNsPerMs,
                {"main", functions[i % 3]});
  }
  return t;
}

TEST(SampleFindingsTest, CodeWithoutNames) {
  const auto found = Found(Unnamed(300, 300), FindingKind::kUnnamedCode);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "50 % of the CPU time (300 ms) is in functions without names, 67 % "
            "of that in liba.so: install its debug symbols, or set "
            "DEBUGINFOD_URLS");
  EXPECT_EQ(found[0].time_ns, 300 * kNsPerMs);
  EXPECT_EQ(found[0].evidence.name, "liba.so+0x10");
  // The hottest of them is no function to make cheaper.
  EXPECT_TRUE(Found(Unnamed(0, 300), FindingKind::kHotFunction).empty());
  // A fifth of the CPU time, and a twentieth of the run.
  EXPECT_EQ(Found(Unnamed(400, 100), FindingKind::kUnnamedCode).size(), 1u);
  EXPECT_TRUE(Found(Unnamed(400, 99), FindingKind::kUnnamedCode).empty());
  EXPECT_EQ(Found(Unnamed(60, 50), FindingKind::kUnnamedCode).size(), 1u);
  EXPECT_TRUE(Found(Unnamed(60, 49), FindingKind::kUnnamedCode).empty());
}

TEST(SampleFindingsTest, OfTheInterpreterTheNextStepIsAnother) {
  const auto step_of = [](const char* function) {
    TestTrace t;
    t.SetWindow(0, kNsPerSecond);
    const auto main = t.AddThread(1, 1, "main");
    for (int i = 0; i < 200; ++i) {
      t.AddSample(main, i * kNsPerMs, kNsPerMs, {function});
    }
    const auto found = Found(std::move(t), FindingKind::kHotFunction);
    return found.empty() ? std::string() : found[0].next_step;
  };
  EXPECT_TRUE(
      step_of("_PyEval_EvalFrameDefault").starts_with("This is Python"));
  EXPECT_TRUE(step_of("[anon]").starts_with("This is machine code"));
  EXPECT_TRUE(step_of("[lisp.core]").starts_with("Nobody knows the functions"));
  EXPECT_TRUE(step_of("Parse").starts_with("Look at its callers"));
  // Samples without a stack are no function.
  EXPECT_EQ(step_of(""), "");
}

}  // namespace
}  // namespace kymo::analysis
