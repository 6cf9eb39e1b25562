#include "profiler/coverage/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace kymo {
namespace {

std::vector<CoverageEvent> WorkedExample() {
  return {{.name = "TORCHDYNAMO", .start_us = 0, .end_us = 10},
          {.name = "mm", .start_us = 1, .end_us = 4},
          {.name = "add", .start_us = 2, .end_us = 3},
          {.name = "relu", .start_us = 5, .end_us = 8},
          {.name = "sin", .start_us = 12, .end_us = 15}};
}

TEST(CoverageTest, CountsOutermostOperationsInAndOutOfRegions) {
  const ProfileResult result =
      MeasureCoverage(WorkedExample(), {.unique_graphs = 1}).result;
  EXPECT_EQ(result.captured,
            (ProfileMetrics{
                .microseconds = 6, .operators = 2, .fusions = 1, .graphs = 1}));
  EXPECT_EQ(result.total,
            (ProfileMetrics{.microseconds = 9, .operators = 3, .fusions = 2}));
  EXPECT_EQ(result.unique_graphs, 1);
}

TEST(CoverageTest, SubtractsAsPyTorchDoesWhereAskedTo) {
  const ProfileResult result =
      MeasureCoverage(WorkedExample(), {.subtract_legacy_ops = true}).result;
  EXPECT_EQ(result.total.operators, 1);
  EXPECT_EQ(result.total.fusions, 0);
  EXPECT_EQ(result.captured.operators, 2);
}

TEST(CoverageTest, OrderOfTheEventsDoesNotMatter) {
  std::vector<CoverageEvent> events = WorkedExample();
  std::reverse(events.begin(), events.end());
  EXPECT_EQ(MeasureCoverage(events, {}).result.captured.operators, 2);
}

TEST(CoverageTest, OperationsThatTouchAreBesideEachOther) {
  const std::vector<CoverageEvent> events = {
      {.name = "mm", .start_us = 0, .end_us = 2},
      {.name = "relu", .start_us = 2, .end_us = 3}};
  EXPECT_EQ(MeasureCoverage(events, {}).result.total.operators, 2);
}

TEST(CoverageTest, OperationsAreCapturedUpToTheEndOfTheRegion) {
  const std::vector<CoverageEvent> events = {
      {.name = "TORCHDYNAMO", .start_us = 0, .end_us = 10},
      {.name = "within", .start_us = 1, .end_us = 10},
      {.name = "TORCHDYNAMO", .start_us = 20, .end_us = 30},
      {.name = "beyond", .start_us = 21, .end_us = 31}};
  const ProfileMetrics captured = MeasureCoverage(events, {}).result.captured;
  EXPECT_EQ(captured.operators, 1);
  EXPECT_EQ(captured.microseconds, 9);
  EXPECT_EQ(captured.graphs, 2);
  EXPECT_EQ(captured.fusions, -1);
}

TEST(CoverageTest, NoEventsAreNoOperations) {
  const ProfileResult result = MeasureCoverage({}, {}).result;
  EXPECT_EQ(result.total.operators, 0);
  EXPECT_EQ(result.ToString(),
            " 0 graphs  0 graph calls    0/   0 =   0% ops   0% time");
}

TEST(CoverageTest, MissingOperationsAreReportedOnRequestOnly) {
  EXPECT_TRUE(MeasureCoverage(WorkedExample(), {}).missing.empty());
}

TEST(CoverageTest, ResultsAddUp) {
  ProfileResult sum =
      MeasureCoverage(WorkedExample(), {.unique_graphs = 1}).result;
  sum += MeasureCoverage(WorkedExample(), {.unique_graphs = 2}).result;
  EXPECT_EQ(sum.unique_graphs, 3);
  EXPECT_EQ(sum.captured.operators, 4);
  EXPECT_EQ(sum.captured.graphs, 1);
  EXPECT_EQ(sum.total.microseconds, 18);
}

TEST(CoverageTest, ResultsAsTextAndNumbers) {
  ProfileResult result;
  result.unique_graphs = 1;
  result.captured = {.microseconds = 30, .operators = 6, .graphs = 2};
  result.total = {.microseconds = 40, .operators = 8};
  EXPECT_EQ(result.ToString(),
            " 1 graphs  2 graph calls    6/   8 =  75% ops  75% time");
  EXPECT_EQ(result.tocsv(), (std::vector<double>{1, 2, 6, 8, 0.75, 0.75}));
}

TEST(CoverageTest, MetricsAsText) {
  EXPECT_EQ((ProfileMetrics{.microseconds = 0.25, .operators = 0.5}).ToString(),
            " 50% ops  25% time");
  EXPECT_EQ((ProfileMetrics{.microseconds = 1, .operators = 1}).ToString(),
            "100% ops 100% time");
}

TEST(CoverageTest, SumsLeaveGraphsOut) {
  const ProfileMetrics a = {
      .microseconds = 1, .operators = 2, .fusions = 3, .graphs = 4};
  ProfileMetrics sum = a;
  sum += a;
  EXPECT_EQ(sum,
            (ProfileMetrics{
                .microseconds = 2, .operators = 4, .fusions = 6, .graphs = 4}));
  EXPECT_EQ((a + a).graphs, 0);
  EXPECT_EQ((a + a).operators, 4);
}

TEST(CoverageTest, DivisorsAreAtLeastOne) {
  const ProfileMetrics a = {
      .microseconds = 6, .operators = 4, .fusions = 2, .graphs = 9};
  EXPECT_EQ(a / ProfileMetrics{},
            (ProfileMetrics{.microseconds = 6, .operators = 4, .fusions = 2}));
  EXPECT_EQ(a / 2,
            (ProfileMetrics{.microseconds = 3, .operators = 2, .fusions = 1}));
}

TEST(CoverageTest, EachNumberHasADivisorOfItsOwn) {
  const ProfileMetrics a = {
      .microseconds = 12, .operators = 8, .fusions = 6, .graphs = 9};
  const ProfileMetrics by = {
      .microseconds = 4, .operators = 2, .fusions = 1.5, .graphs = 3};
  const ProfileMetrics quotient = {
      .microseconds = 3, .operators = 4, .fusions = 4};
  EXPECT_EQ(a / by, quotient);
  ProfileResult result;
  result.captured = a;
  result.total = by;
  EXPECT_EQ(result.percent(), quotient);
  EXPECT_EQ(result.tocsv(), (std::vector<double>{0, 9, 8, 2, 4, 3}));
  EXPECT_EQ(a / 0,
            (ProfileMetrics{.microseconds = 12, .operators = 8, .fusions = 6}));
}

TEST(CoverageTest, StacksLeaveTheFrameworkOut) {
  const auto missing = [](std::vector<std::string> stack) {
    const std::vector<CoverageEvent> events = {
        {.name = "sin", .start_us = 0, .end_us = 1, .stack = std::move(stack)}};
    return MeasureCoverage(events, {.print_missing = true}).missing;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(missing({"a", "lib/site-packages/torch/nn.py(1): f", "b"}),
            Texts{"MISSING a >> b"});
  EXPECT_EQ(missing({"a", "b", "c"}), Texts{"MISSING a >> b >> c"});
  EXPECT_EQ(missing({}), Texts{"MISSING "});
  EXPECT_EQ(missing({"a", "x/torch/autograd/profiler.py(3): f"}), Texts());
  // An operation that is captured is not missing, nor one inside of another.
  const std::vector<CoverageEvent> events = {
      {.name = "TORCHDYNAMO", .start_us = 0, .end_us = 2},
      {.name = "mm", .start_us = 0, .end_us = 2, .stack = {"captured"}},
      {.name = "relu", .start_us = 3, .end_us = 9, .stack = {"outer"}},
      {.name = "sin", .start_us = 4, .end_us = 5, .stack = {"inner"}}};
  EXPECT_EQ(MeasureCoverage(events, {.print_missing = true}).missing,
            Texts{"MISSING outer"});
}

TEST(CoverageTest, MissingOperationsAreReportedOnce) {
  std::vector<CoverageEvent> events;
  for (int i = 0; i < 2; ++i) {
    events.push_back({.name = "sin",
                      .start_us = 10.0 * i,
                      .end_us = 10.0 * i + 1,
                      .stack = {"a", "<built-in method sin>", "b", "c", "d"}});
  }
  events.push_back({.name = "profiler",
                    .start_us = 50,
                    .end_us = 51,
                    .stack = {"x/torch/autograd/profiler.py(3): f"}});
  const Coverage coverage = MeasureCoverage(events, {.print_missing = true});
  EXPECT_EQ(coverage.missing,
            (std::vector<std::string>{"MISSING b >> c >> d"}));
}

TEST(CoverageTest, RegionsAreCountedUntilTaken) {
  CapturedRegions::Take();
  CapturedRegions::Add();
  CapturedRegions::Add();
  EXPECT_EQ(CapturedRegions::Take(), 2);
  EXPECT_EQ(CapturedRegions::Take(), 0);
}

}  // namespace
}  // namespace kymo
