#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

constexpr int64_t kMs = kNsPerMs;

// A run of 1 s: `hot_ms` of mm, half of it in forward, among ten others of
// equal length that fill the rest.
TestTrace Ranges(int64_t hot_ms) {
  TestTrace t;
  t.SetWindow(0, 1000 * kMs);
  const auto main = t.AddThread(1, 1, "main");
  const TimeNs half = hot_ms * kMs / 2;
  t.AddRange(main, "forward", 0, half);
  t.AddRange(main, "mm", 0, half);
  t.AddRange(main, "mm", half, 2 * half);
  const TimeNs rest = (1000 * kMs - 2 * half) / 10;
  for (int i = 0; i < 10; ++i) {
    t.AddRange(main, "other" + std::to_string(i), 2 * half + i * rest,
               2 * half + (i + 1) * rest);
  }
  return t;
}

TEST(RangeFindingsTest, AHotOperationAndTheRangeAroundIt) {
  const auto found = Found(Ranges(600), FindingKind::kHotOperation);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "mm took 60 % of the time of all ranges (600 ms), without the "
            "ranges inside of it; 50 % of its time was inside of forward");
  EXPECT_EQ(found[0].time_ns, 600 * kMs);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kEvent);
  EXPECT_EQ(found[0].evidence.name, "mm");
  EXPECT_EQ(found[0].evidence.begin_ns, 0);
  EXPECT_EQ(found[0].evidence.duration_ns, 300 * kMs);
}

TEST(RangeFindingsTest, OfWhatMostlyWaitsItSaysSo) {
  // Of each of its two calls.
  const auto found = [](int64_t wait_ms) {
    TestTrace t = Ranges(600);
    t.SetThreadTimes({{.track = 0, .wall_ns = 1000 * kMs}});
    for (const TimeNs begin : {TimeNs{0}, 300 * kMs}) {
      t.AddWait({.track = 0,
                 .kind = model::WaitKind::kSleep,
                 .begin_ns = begin,
                 .duration_ns = wait_ms * kMs});
    }
    auto all = Found(std::move(t), FindingKind::kHotOperation);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Finding() : all[0];
  };
  const Finding waits = found(225);
  EXPECT_EQ(waits.title,
            "mm took 60 % of the time of all ranges (600 ms), without the "
            "ranges inside of it; its thread waited for 75 % of that time; "
            "50 % of its time was inside of forward");
  EXPECT_EQ(waits.next_step.find("Record CPU samples"), std::string::npos);
  const Finding works = found(120);
  EXPECT_EQ(works.title.find("waited"), std::string::npos) << works.title;
  EXPECT_TRUE(works.next_step.starts_with("Record CPU samples"));
}

TEST(RangeFindingsTest, WaitsOfARangeInsideOfItAreNotIts) {
  TestTrace t;
  t.SetWindow(0, 1000 * kMs);
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "outer", 0, 1000 * kMs);
  t.AddRange(main, "inner", 0, 400 * kMs);
  t.SetThreadTimes({{.track = main, .wall_ns = 1000 * kMs}});
  t.AddWait({.track = main, .begin_ns = 0, .duration_ns = 400 * kMs});
  const auto found = Found(std::move(t), FindingKind::kHotOperation);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].title.find("waited"), std::string::npos);
  EXPECT_NE(found[1].title.find("waited for 100 % of"), std::string::npos);
}

TEST(RangeFindingsTest, AllStepsAreOneRangeAroundIt) {
  TestTrace t;
  t.SetWindow(0, 1000 * kMs);
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 4; ++i) {
    const TimeNs begin = i * 250 * kMs;
    t.AddRange(main, "ProfilerStep#" + std::to_string(i), begin,
               begin + 250 * kMs);
    t.AddRange(main, "mm", begin, begin + 240 * kMs);
  }
  const auto found = Found(std::move(t), FindingKind::kHotOperation);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(
      found[0].title.ends_with("100 % of its time was inside of ProfilerStep*"))
      << found[0].title;
}

TEST(RangeFindingsTest, AFifthOfTheTimeIsHot) {
  EXPECT_EQ(Found(Ranges(200), FindingKind::kHotOperation).size(), 1u);
  EXPECT_TRUE(Found(Ranges(198), FindingKind::kHotOperation).empty());
}

TEST(RangeFindingsTest, SamplesAndDevicesSayItBetter) {
  TestTrace sampled = Ranges(600);
  for (int i = 0; i < 100; ++i) {
    sampled.AddSample(0, i * kMs, kMs, {"f" + std::to_string(i)});
  }
  EXPECT_TRUE(Found(std::move(sampled), FindingKind::kHotOperation).empty());
  TestTrace device = Ranges(600);
  const auto stream = device.AddStream(0, 7, 1);
  device.AddRange(stream, "k", 0, 1, model::ActivityType::kConcurrentKernel);
  EXPECT_TRUE(Found(std::move(device), FindingKind::kHotOperation).empty());
}

TEST(RangeFindingsTest, CallsOfADevicesRuntimeAreNoOperations) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "cudaDeviceSynchronize", 0, 1000 * kMs,
             model::ActivityType::kCudaRuntime);
  EXPECT_TRUE(Found(std::move(t), FindingKind::kHotOperation).empty());
}

TEST(RangeFindingsTest, AllStepsAreOneOperation) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 3; ++i) {
    t.AddRange(main, "ProfilerStep#" + std::to_string(i), i * 100 * kMs,
               (i + 1) * 100 * kMs);
  }
  const auto found = Found(std::move(t), FindingKind::kHotOperation);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].title.starts_with("ProfilerStep* took 100 %"))
      << found[0].title;
}

TEST(RangeFindingsTest, ARecursiveOperationIsInsideOfWhatCalledItFirst) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "root", 0, 100 * kMs);
  t.AddRange(main, "walk", 0, 100 * kMs);
  t.AddRange(main, "walk", 0, 90 * kMs);
  const auto found = Found(std::move(t), FindingKind::kHotOperation);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].title.ends_with("100 % of its time was inside of root"))
      << found[0].title;
}

// `count` ranges of `ns` each in a run of `wall_ns`.
std::vector<Finding> Tiny(int64_t count, DurationNs ns, DurationNs wall_ns,
                          const char* recorded_by = nullptr) {
  TestTrace t;
  t.SetWindow(0, wall_ns);
  const auto main = t.AddThread(1, 1, "main");
  for (int64_t i = 0; i < count; ++i) {
    t.AddRange(main, "get", i * ns, (i + 1) * ns);
  }
  if (recorded_by != nullptr) t.AddMetadata("kymo_recorded_by", recorded_by);
  return Found(std::move(t), FindingKind::kTinyRanges);
}

TEST(RangeFindingsTest, TinyRangesWithTheCostOfRecordingThem) {
  const auto found = Tiny(100'000, 100, 100 * kMs);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "100,000 ranges get took 100 ns each on average: Kymo records "
            "them at 22 ns each, in about 2.20 ms");
  EXPECT_EQ(found[0].time_ns, 2'200'000);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kRow);
  EXPECT_EQ(found[0].evidence.table, "key_averages");
  EXPECT_EQ(found[0].evidence.name, "get");
}

TEST(RangeFindingsTest, RangesOf440NsAreNotTiny) {
  EXPECT_EQ(Tiny(100'000, 439, 100 * kMs).size(), 1u);
  EXPECT_TRUE(Tiny(100'000, 440, 100 * kMs).empty());
}

TEST(RangeFindingsTest, AHundredthOfTheRunMatters) {
  EXPECT_EQ(Tiny(100'000, 100, 220 * kMs).size(), 1u);
  EXPECT_TRUE(Tiny(100'000, 100, 221 * kMs).empty());
}

TEST(RangeFindingsTest, LessThanAMillisecondOfRecordingDoesNot) {
  EXPECT_TRUE(Tiny(45'454, 100, 10 * kMs).empty());
  EXPECT_EQ(Tiny(45'455, 100, 10 * kMs).size(), 1u);
}

TEST(RangeFindingsTest, NobodyKnowsWhatRangesOfPyTorchCost) {
  EXPECT_TRUE(Tiny(100'000, 100, 100 * kMs, "\"PyTorch\"").empty());
}

}  // namespace
}  // namespace kymo::analysis
