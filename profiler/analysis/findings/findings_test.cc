#include "profiler/analysis/findings/findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"
#include "profiler/base/parallel.h"
#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;

constexpr int64_t kMs = kNsPerMs;

// A trace with something of each kind of records.
TestTrace Mixed() {
  TestTrace t;
  t.SetWindow(0, 1000 * kMs);
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 8; ++i) {
    t.AddRange(main, "ProfilerStep#" + std::to_string(i), i * 100 * kMs,
               (i * 100 + (i == 3 ? 99 : 40)) * kMs);
  }
  t.AddRange(main, "cudaLaunchKernel", 900 * kMs, 901 * kMs,
             ActivityType::kCudaRuntime);
  t.Describe(1);
  const auto worker = t.AddThread(1, 2, "worker");
  for (int i = 0; i < 200; ++i) {
    t.AddSample(main, i * kMs, kMs, {"main", i % 2 ? "Parse" : "Read"});
  }
  t.SetThreadTimes({{.track = main, .wall_ns = 1000 * kMs},
                    {.track = worker, .wall_ns = 1000 * kMs}},
                   4);
  t.AddWait({.track = main,
             .kind = model::WaitKind::kRead,
             .begin_ns = 500 * kMs,
             .duration_ns = 200 * kMs},
            {"main", "Load"});
  TestMemory memory;
  for (int i = 0; i < 200; ++i) {
    memory.Allocate({.track = main, .bytes = 1 << 20}, i);
  }
  const auto stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "gemm", 10 * kMs, 20 * kMs,
             ActivityType::kConcurrentKernel);
  t.AddRange(stream, "gemm", 902 * kMs, 990 * kMs,
             ActivityType::kConcurrentKernel);
  t.Describe(1);
  t.data().ledger.Add(model::Loss::kSamplesLost, 200);
  std::move(memory).AddTo(t.data());
  return t;
}

std::vector<std::string> Titles(const model::Trace& trace) {
  std::vector<std::string> titles;
  for (const Finding& finding : FindFindings(trace)) {
    titles.push_back(finding.title);
  }
  return titles;
}

TEST(FindingsTest, TheOneWithMostAtStakeIsFirst) {
  const std::vector<Finding> findings =
      FindFindings(std::move(Mixed()).Build());
  ASSERT_GT(findings.size(), 3u);
  EXPECT_EQ(findings[0].kind, FindingKind::kDeviceIdle);
  EXPECT_TRUE(std::ranges::is_sorted(findings, std::ranges::greater(),
                                     &Finding::share));
}

TEST(FindingsTest, EachHasANumberEvidenceAndANextStep) {
  const model::Trace trace = std::move(Mixed()).Build();
  for (const Finding& finding : FindFindings(trace)) {
    SCOPED_TRACE(finding.title);
    EXPECT_NE(finding.title.find_first_of("0123456789"), std::string::npos);
    EXPECT_FALSE(finding.title.ends_with('.'));
    EXPECT_FALSE(finding.next_step.empty());
    EXPECT_FALSE(finding.next_step.ends_with('.'));
    EXPECT_GT(finding.share, 0);
    const Evidence& evidence = finding.evidence;
    EXPECT_FALSE(evidence.name.empty());
    switch (evidence.kind) {
      case EvidenceKind::kInterval:
      case EvidenceKind::kEvent:
        EXPECT_LT(evidence.track, trace.tracks().size());
        EXPECT_GT(evidence.duration_ns, 0);
        break;
      case EvidenceKind::kStack:
        EXPECT_NE(evidence.stack, model::kEmptyStack);
        break;
      case EvidenceKind::kRow:
        EXPECT_FALSE(evidence.table.empty());
        break;
      case EvidenceKind::kCounter:
        EXPECT_LT(evidence.track, trace.tracks().size());
        break;
    }
  }
}

TEST(FindingsTest, ThereAreAtMostThreeOfAKind) {
  TestTrace t;
  t.SetWindow(0, 1000 * kMs);
  const auto main = t.AddThread(7, 7, "main");
  t.SetThreadTimes({{.track = main, .wall_ns = 1000 * kMs}});
  for (int i = 0; i < 5; ++i) {
    t.AddWait({.track = main,
               .kind = model::WaitKind::kRead,
               .begin_ns = i * 100 * kMs,
               .duration_ns = (60 + i) * kMs},
              {"f" + std::to_string(i)});
  }
  const auto found = Found(std::move(t), FindingKind::kThreadWait);
  ASSERT_EQ(found.size(), kMostOfAKind);
  EXPECT_EQ(found[0].time_ns, 64 * kMs);
  EXPECT_EQ(found[2].time_ns, 62 * kMs);
}

TEST(FindingsTest, AnyNumberOfThreadsFindsTheSame) {
  const model::Trace trace = std::move(Mixed()).Build();
  std::vector<std::string> of_one;
  {
    const ParallelismLimit limit(1);
    of_one = Titles(trace);
  }
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Titles(trace), of_one);
}

TEST(FindingsTest, AQuietRunHasNone) {
  EXPECT_TRUE(FindFindings(TestTrace().Build()).empty());
  TestTrace one;
  const auto main = one.AddThread(1, 1, "main");
  one.AddInstant(main, "mark", 5);
  EXPECT_TRUE(FindFindings(std::move(one).Build()).empty());
  TestTrace open;
  open.AddRange(open.AddThread(1, 1, "main"), "main", 0, 100,
                ActivityType::kCpuOp, model::kEventOpen);
  EXPECT_TRUE(FindFindings(std::move(open).Build()).empty());
}

TEST(FindingsTest, TimesOfNoRunAreSurvived) {
  TestTrace t = Mixed();
  t.SetWindow(1000 * kMs, 0);  // the end before the beginning
  FindFindings(std::move(t).Build());
  TestTrace negative;
  const auto main = negative.AddThread(1, 1, "main");
  negative.SetWindow(-2000 * kMs, -1000 * kMs);
  negative.AddRange(main, "f", -2000 * kMs, -1000 * kMs);
  EXPECT_EQ(FindFindings(std::move(negative).Build()).size(), 1u);
  TestTrace year;
  const auto thread = year.AddThread(1, 1, "main");
  year.AddRange(thread, "a", 0, 1);
  year.AddRange(thread, "b", 365 * 86'400 * kNsPerSecond,
                365 * 86'400 * kNsPerSecond + 1);
  EXPECT_TRUE(FindFindings(std::move(year).Build()).empty());
  TestTrace weights;
  const auto track = weights.AddThread(1, 1, "main");
  weights.SetWindow(0, kMs);
  for (int i = 0; i < 200; ++i) weights.AddSample(track, i, -kMs, {"f"});
  EXPECT_TRUE(FindFindings(std::move(weights).Build()).empty());
}

TEST(FindingsTest, AHundredThousandThreadsAreNoProblem) {
  TestTrace t;
  t.SetWindow(0, 1000 * kMs);
  std::vector<model::ThreadTimes> times;
  for (int i = 0; i < 100'000; ++i) {
    const auto track = t.AddThread(1, 2 + i, "worker");
    t.AddRange(track, "Work", 0, (i == 7 ? 1000 : 100) * kMs);
    times.push_back({.track = track, .wall_ns = 1000 * kMs});
  }
  t.SetThreadTimes(std::move(times), 4);
  const auto found = Found(std::move(t), FindingKind::kLoadImbalance);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].evidence.track, 7u);
}

// The depth of a recursion is no problem either.
TEST(FindingsTest, ARecursionOfAnyDepthIsLinear) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  constexpr int kDepth = 500'000;
  for (int i = 0; i < kDepth; ++i) {
    t.AddRange(main, "f", i, 1000 * kMs - i);
  }
  EXPECT_EQ(Found(std::move(t), FindingKind::kHotOperation).size(), 1u);
}

TEST(FindingsTest, IdsAreTheNamesOfTheDocument) {
  std::ifstream file("docs/findings.md");
  ASSERT_TRUE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  std::set<std::string_view> ids;
  for (size_t kind = 0; kind <= static_cast<size_t>(kLastFindingKind); ++kind) {
    const std::string_view id = FindingId(static_cast<FindingKind>(kind));
    EXPECT_TRUE(ids.insert(id).second) << id;
    EXPECT_EQ(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), id.npos);
    EXPECT_NE(text.str().find("\n## `" + std::string(id) + "`\n"),
              std::string::npos)
        << id << " has no section in docs/findings.md";
  }
}

}  // namespace
}  // namespace kymo::analysis
