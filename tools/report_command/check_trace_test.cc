#include "tools/report_command/check_trace.h"

#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::tools {
namespace {

using model::ActivityType;
using Severity = ImportFinding::Severity;

std::map<std::string, TraceFinding> Check(TestTrace t) {
  std::map<std::string, TraceFinding> findings;
  for (TraceFinding& f : CheckTrace(std::move(t).Build())) {
    findings[f.rule] = f;
  }
  return findings;
}

TEST(CheckTraceTest, FindsNothingInASoundTrace) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "");
  t.AddAnnotation(main, "ProfilerStep#1", 100, 200);
  t.AddRange(main, "mm", 110, 120);
  t.AddRange(main, "launch", 112, 114, ActivityType::kCudaRuntime);
  t.Describe(5);
  const auto stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "gemm", 115, 130, ActivityType::kConcurrentKernel);
  t.Describe(5);
  EXPECT_TRUE(Check(std::move(t)).empty());
}

TEST(CheckTraceTest, CountsDeviceWorkByWhatItsLinksLack) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "");
  t.AddRange(main, "launch", 112, 114, ActivityType::kCudaRuntime);
  t.Describe(5);
  t.AddRange(main, "launch", 115, 116, ActivityType::kCudaRuntime);
  t.Describe(5);
  const auto stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "early", 111, 112, ActivityType::kConcurrentKernel);
  t.Describe(5);
  t.AddRange(stream, "alone", 120, 130, ActivityType::kGpuMemcpy);
  t.AddRange(stream, "alone", 140, 150, ActivityType::kGpuMemset);
  t.AddRange(stream, "annotation", 160, 170, ActivityType::kGpuUserAnnotation);
  const auto findings = Check(std::move(t));
  EXPECT_EQ(findings.at("launch_missing").count, 2);
  EXPECT_EQ(findings.at("launch_missing").first, 3);
  EXPECT_EQ(findings.at("launch_missing").severity, Severity::kWarning);
  EXPECT_EQ(findings.at("launch_late").first, 2);
  EXPECT_EQ(findings.at("correlation_duplicate").first, 1);
  EXPECT_EQ(findings.at("operation_missing").severity, Severity::kNote);
}

TEST(CheckTraceTest, CountsEventsAtTheEpochOrBefore) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "");
  t.AddRange(main, "sound", 1, 2);
  const auto other = t.AddThread(1, 2, "");
  t.AddRange(other, "before", -5, 2);
  t.AddRange(other, "at", 0, 2);
  t.AddRange(other, "sound", 1, 2);
  const auto findings = Check(std::move(t));
  EXPECT_EQ(findings.at("time_not_positive").count, 2);
  EXPECT_EQ(findings.at("time_not_positive").first, 1);
  EXPECT_EQ(findings.at("time_not_positive").severity, Severity::kWarning);
}

TEST(CheckTraceTest, CountsMissingStepsAndSaysBetweenWhich) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "");
  t.AddAnnotation(main, "ProfilerStep#1", 100, 200);
  t.AddAnnotation(main, "ProfilerStep#4", 200, 300);
  const auto findings = Check(std::move(t));
  EXPECT_EQ(findings.at("step_missing").count, 2);
  EXPECT_EQ(findings.at("step_missing").first, 1);
  EXPECT_EQ(findings.at("step_missing").message, "after step 1 comes step 4");
}

TEST(CheckTraceTest, BackwardOperationsNeedTheirForwardOnes) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "");
  t.data().tracks[main].logical_id = 1;
  t.AddRange(main, "mm", 100, 110);
  t.Describe(0);
  t.data().details.back().sequence_nr = 3;
  for (const int64_t number : {3, 4}) {
    t.AddRange(main, "MmBackward", 100 + 20 * number, 110 + 20 * number);
    t.Describe(0);
    t.data().details.back().sequence_nr = number;
    t.SetRare({.forward_thread = 1});
  }
  const auto findings = Check(std::move(t));
  EXPECT_EQ(findings.at("forward_missing").count, 1);
  EXPECT_EQ(findings.at("forward_missing").first, 2);
}

TEST(CheckTraceTest, RangesOfNvtxStandForOperations) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "");
  t.AddRange(main, "solve", 100, 200, ActivityType::kNvtxRange);
  t.AddRange(main, "cudaLaunchKernel", 110, 120, ActivityType::kCudaRuntime);
  t.Describe(5);
  t.AddRange(t.AddStream(0, 7, 1), "gemm", 130, 140,
             ActivityType::kConcurrentKernel);
  t.Describe(5);
  EXPECT_TRUE(Check(std::move(t)).empty());
}

TEST(CheckTraceTest, OverlapsAreFoundWhereTheLaneBegins) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "");
  t.AddRange(main, "a", 100, 200);
  // Asynchronous ranges may overlap: no complaint is about the first one.
  const auto async = t.AddThread(1, 1, "");
  t.AddRange(async, "request", 90, 300);
  t.data().flags.back() |= model::kEventAsync;
  const auto lane = t.AddThread(1, 1, "");
  t.AddRange(lane, "b", 150, 250);
  t.data().ledger.Add(model::Loss::kRangesOverlapping, 1);
  t.data().ledger.Add(model::Loss::kRangesOpenAtEnd, 2);
  const auto findings = Check(std::move(t));
  EXPECT_EQ(findings.at("ranges_overlapping").first, 2);
  EXPECT_EQ(findings.at("ranges_overlapping").severity, Severity::kWarning);
  EXPECT_EQ(findings.at("ranges_open_at_end").severity, Severity::kNote);
}

TEST(CheckTraceTest, OddTimes) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "");
  t.AddRange(main, "before", -5, 3);
  t.AddRange(main, "empty", 7, 7);
  t.AddInstant(main, "instant", 8);
  t.SetWindow(-5, 10);
  const auto findings = Check(std::move(t));
  EXPECT_EQ(findings.at("time_not_positive").first, 0);
  EXPECT_EQ(findings.at("duration_zero").count, 1);
  EXPECT_EQ(findings.at("duration_zero").severity, Severity::kNote);
}

TEST(CheckTraceTest, BrokenInvariantsAreErrors) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "");
  t.AddRange(main, "a", 100, 200);
  t.data().end[0] = 50;
  EXPECT_EQ(Check(std::move(t)).at("trace_invalid").severity, Severity::kError);
}

}  // namespace
}  // namespace kymo::tools
