#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

constexpr int64_t kMs = kNsPerMs;

// 200 samples of 1 ms in a run of 1 s, `faults` of them in a page fault.
TestTrace Sampled(int faults) {
  TestTrace t;
  t.SetWindow(0, 1000 * kMs);
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 200; ++i) {
    if (i < faults) {
      t.AddSample(main, i * kMs, kMs,
                  {"main", "Fill", "asm_exc_page_fault", "handle_mm_fault",
                   "clear_page_erms"});
    } else {
      t.AddSample(main, i * kMs, kMs, {"main", "Fill"});
    }
  }
  return t;
}

TEST(FaultFindingsTest, SamplesMeasureThem) {
  const auto found = Found(Sampled(60), FindingKind::kPageFaults);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Page faults took 30 % of the CPU time (60.0 ms)");
  EXPECT_EQ(found[0].time_ns, 60 * kMs);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kRow);
  EXPECT_EQ(found[0].evidence.name, "asm_exc_page_fault");
}

TEST(FaultFindingsTest, ATwentiethOfTheRunMatters) {
  EXPECT_EQ(Found(Sampled(50), FindingKind::kPageFaults).size(), 1u);
  EXPECT_TRUE(Found(Sampled(49), FindingKind::kPageFaults).empty());
}

std::vector<Finding> Counted(const char* counter, double per_second) {
  TestTrace t;
  t.SetWindow(0, 2000 * kMs);
  const auto main = t.AddThread(7, 7, "main");
  t.AddCounter(main, counter, 1000 * kMs, per_second);
  return Found(std::move(t), FindingKind::kPageFaults);
}

TEST(FaultFindingsTest, CountersEstimateThem) {
  const auto found = Counted("process.page_faults.minor_per_s", 400'000);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Process 7 had 400,000 page faults: at least about 200 ms, at 500 "
            "ns each");
  EXPECT_EQ(found[0].time_ns, 200 * kMs);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kCounter);
  EXPECT_EQ(found[0].evidence.name, "process.page_faults.minor_per_s");
  EXPECT_EQ(found[0].evidence.track, 0u);
}

TEST(FaultFindingsTest, CountsMatterAsTimesDo) {
  EXPECT_EQ(Counted("process.page_faults.minor_per_s", 200'000).size(), 1u);
  EXPECT_TRUE(Counted("process.page_faults.minor_per_s", 199'990).empty());
  EXPECT_EQ(Counted("process.page_faults.major_per_s", 1'000).size(), 1u);
  EXPECT_TRUE(Counted("process.page_faults.major_per_s", 999).empty());
  EXPECT_TRUE(Counted("process.memory.rss", 1e12).empty());
}

TEST(FaultFindingsTest, AnyNumberOfACounterIsSurvived) {
  for (const double value :
       {1e300, -1e300, std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_TRUE(Counted("process.page_faults.minor_per_s", value).empty())
        << value;
  }
}

}  // namespace
}  // namespace kymo::analysis
