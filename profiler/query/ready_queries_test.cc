#include "profiler/query/ready_queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/averages/key_averages.h"
#include "profiler/analysis/averages/sampled_functions.h"
#include "profiler/analysis/device/device_times.h"
#include "profiler/analysis/waits.h"
#include "profiler/query/test_query.h"
#include "profiler/tables/test_tables.h"
#include "tests/support/test_trace.h"

namespace kymo::query {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;

class ReadyQueriesTest : public ::testing::Test {
 protected:
  std::vector<std::string> Rows(const std::string& name) const {
    return RowsOf(trace_, FindReadyQuery(name)->sql);
  }
  const model::Trace trace_ = tables::SmallTrace();
};

TEST_F(ReadyQueriesTest, AreSortedAndAllGiveRows) {
  std::string_view last;
  for (const ReadyQuery& query : ReadyQueries()) {
    EXPECT_LT(last, query.name);
    last = query.name;
    EXPECT_EQ(FindReadyQuery(query.name), &query);
    EXPECT_FALSE(query.purpose.ends_with(".")) << query.name;
    const auto rows = RowsOf(trace_, query.sql);
    // The trace has too few events for outliers; see below.
    if (query.name != "outliers") {
      ASSERT_FALSE(rows.empty()) << query.name;
      EXPECT_FALSE(rows[0].starts_with("error")) << query.name << rows[0];
    }
  }
  EXPECT_EQ(FindReadyQuery("nobody"), nullptr);
}

TEST_F(ReadyQueriesTest, Answers) {
  EXPECT_THAT(Rows("allocations_by_stack"),
              ElementsAre("7|164|2|100|main;make"));
  EXPECT_THAT(Rows("busiest_threads"), ElementsAre("7|7|main|1500|100|350|75",
                                                   "7|8|worker|10|0|1990|0.5"));
  EXPECT_THAT(Rows("counter_ranges"), ElementsAre("loss|2|0.125|0.1875|0.25"));
  EXPECT_THAT(Rows("device_busy"),
              ElementsAre("7|0|13|compute|1|500|50", "7|0|13|memory|1|100|-"));
  EXPECT_THAT(Rows("launch_delays"), ElementsAre("gemm|1|50|50|50"));
  EXPECT_EQ(Rows("longest_events")[2], "6|gemm|500|500|3|-");
  EXPECT_EQ(Rows("longest_events")[3], "1|aten::mm|400|350|3|ProfilerStep#3");
  EXPECT_EQ(Rows("losses").size(), 2);
  EXPECT_EQ(Rows("percentiles")[2], "aten::mm|2|250|370|397|400");
  EXPECT_THAT(Rows("slowest_steps"), ElementsAre("7|3|900|1"));
  EXPECT_EQ(Rows("step_operations")[0], "Memcpy HtoD|100|100");
  EXPECT_THAT(Rows("top_kernels"),
              ElementsAre("gemm|compute|1|500|500|-",
                          "Memcpy HtoD|memory|1|100|100|64"));
  EXPECT_THAT(Rows("waits_by_kind"),
              ElementsAre("lock|1|60|60", "sleep|3|30|20"));
  EXPECT_THAT(Rows("waits_in_ranges"), ElementsAre("aten::mm|lock|1|60"));
}

TEST(OutliersTest, AreFarFromTheMedian) {
  TestTrace t;
  const auto thread = t.AddThread(1, 1, "main");
  for (int i = 0; i < 12; ++i) {
    t.AddRange(thread, "op", 1'000'000 * i,
               1'000'000 * i + (i == 7 ? 900'000 : 1'000));
  }
  EXPECT_THAT(RowsOf(std::move(t).Build(), FindReadyQuery("outliers")->sql),
              ElementsAre("7|op|-|900000|1000"));
}

// 20 calls of 1 us are one event of the file.
model::Trace FoldedTrace() {
  TestTrace t;
  const auto thread = t.AddThread(1, 1, "main");
  t.AddRange(thread, "op", 0, 20'000, model::ActivityType::kCpuOp,
             model::kEventFolded);
  t.Describe(0);
  t.SetRare({.calls = 20});
  t.AddRange(thread, "op", 30'000, 230'000);
  return std::move(t).Build();
}

TEST(FoldedTest, AnEventCountsForItsCalls) {
  const model::Trace trace = FoldedTrace();
  const auto rows = [&](std::string_view query) {
    return RowsOf(trace, FindReadyQuery(query)->sql);
  };
  EXPECT_THAT(rows("percentiles"),
              ElementsAre("op|21|1000|1000|160200|200000"));
  EXPECT_THAT(rows("outliers"), ElementsAre("1|op|-|200000|1000"));
  EXPECT_THAT(rows("longest_events"), ElementsAre("1|op|200000|200000|-|-"));
}

// 10 kernels of 2 us are one event of the file.
TEST(FoldedTest, WorkOfADeviceCountsForItsCalls) {
  TestTrace t;
  const auto stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "kernel", 0, 20'000,
             model::ActivityType::kConcurrentKernel, model::kEventFolded);
  t.Describe(0);
  t.SetRare({.calls = 10});
  t.AddRange(stream, "kernel", 30'000, 41'000,
             model::ActivityType::kConcurrentKernel);
  const model::Trace trace = std::move(t).Build();
  EXPECT_THAT(RowsOf(trace, FindReadyQuery("top_kernels")->sql),
              ElementsAre("kernel|compute|11|31000|2818.18|-"));
  EXPECT_THAT(RowsOf(trace, FindReadyQuery("device_busy")->sql),
              ElementsAre("1|0|7|compute|11|31000|-"));
}

// The query and the analysis agree, row by row.
std::vector<std::string> AveragesOf(const model::Trace& trace) {
  std::vector<std::string> expected;
  for (const analysis::KeyAverage& row : analysis::KeyAverages(
           trace, {.duplicates = analysis::DuplicatesOf(trace)})) {
    const auto total =
        row.is_device ? row.device_time_total_ns : row.cpu_time_total_ns;
    const auto self = row.is_device ? row.self_device_time_total_ns
                                    : row.self_cpu_time_total_ns;
    expected.push_back(absl::StrCat(row.name, "|", row.count, "|", total, "|",
                                    self, "|", row.min_ns, "|", row.max_ns, "|",
                                    row.is_device ? 1 : 0));
  }
  return expected;
}

TEST_F(ReadyQueriesTest, KeyAveragesAreThoseOfTheAnalysis) {
  const std::vector<std::string> expected = AveragesOf(trace_);
  EXPECT_GE(expected.size(), 5);
  EXPECT_THAT(Rows("key_averages"), UnorderedElementsAreArray(expected));
}

TEST_F(ReadyQueriesTest, KeyAveragesOfFoldedRangesAreThoseOfTheAnalysis) {
  const model::Trace trace = FoldedTrace();
  EXPECT_THAT(RowsOf(trace, FindReadyQuery("key_averages")->sql),
              UnorderedElementsAreArray(AveragesOf(trace)));
}

// PyTorch counts a range and its only child of the same name once.
TEST_F(ReadyQueriesTest, KeyAveragesOfPyTorchLeaveOutDuplicates) {
  for (const bool is_of_pytorch : {true, false}) {
    TestTrace t;
    t.AddProcess(1, "python");
    const auto main = t.AddThread(1, 1, "main");
    t.AddRange(main, "mul", 0, 100);
    t.AddRange(main, "mul", 10, 90);
    t.AddRange(main, "add", 20, 50);
    t.AddRange(main, "mul", 200, 300);
    if (is_of_pytorch) t.AddMetadata("kymo_recorded_by", R"("PyTorch")");
    const model::Trace trace = std::move(t).Build();
    const std::vector<std::string> expected = AveragesOf(trace);
    EXPECT_THAT(expected, testing::Contains(testing::StartsWith(
                              is_of_pytorch ? "mul|2|" : "mul|3|")));
    EXPECT_THAT(RowsOf(trace, FindReadyQuery("key_averages")->sql),
                UnorderedElementsAreArray(expected));
  }
}

TEST_F(ReadyQueriesTest, PercentilesOfPyTorchLeaveOutDuplicates) {
  TestTrace t;
  t.AddProcess(1, "python");
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "mul", 0, 100);
  t.AddRange(main, "mul", 10, 90);
  t.AddMetadata("kymo_recorded_by", R"("PyTorch")");
  EXPECT_THAT(RowsOf(std::move(t).Build(), FindReadyQuery("percentiles")->sql),
              ElementsAre("mul|1|100|100|100|100"));
}

TEST_F(ReadyQueriesTest, HotFunctionsAreThoseOfTheAnalysis) {
  std::vector<std::string> expected;
  for (const auto& function : analysis::SampledFunctions(trace_)) {
    if (function.self_sample_count == 0) continue;
    expected.push_back(absl::StrCat(std::string(trace_.Name(function.name)),
                                    "|", function.self_sample_count, "|",
                                    function.self_cpu_time_ns));
  }
  std::vector<std::string> found;
  for (const std::string& row : Rows("hot_functions")) {
    found.push_back(row.substr(0, row.rfind('|')));
  }
  EXPECT_EQ(expected.size(), 2);
  EXPECT_THAT(found, UnorderedElementsAreArray(expected));
}

TEST_F(ReadyQueriesTest, DeviceTimesAreThoseOfTheAnalysis) {
  const auto devices = analysis::ComputeDeviceTimes(trace_);
  ASSERT_EQ(devices.size(), 1);
  EXPECT_THAT(RowsOf(trace_,
                     "select sum(dur_ns), count(*) filter (where kind "
                     "!= 'memory') from device_work"),
              ElementsAre(absl::StrCat(devices[0].summed_ns, "|",
                                       devices[0].kernel_count)));
}

TEST_F(ReadyQueriesTest, WaitsAreThoseOfTheAnalysis) {
  std::map<std::string, uint64_t> expected;
  for (const auto& group : analysis::WaitsByPlace(trace_)) {
    if (!group.is_idle) {
      expected[std::string(model::NameOf(group.kind))] +=
          static_cast<uint64_t>(group.duration_ns);
    }
  }
  for (const std::string& row :
       RowsOf(trace_,
              "select kind, sum(dur_ns) from waits where not "
              "coalesce(is_idle, 0) group by kind")) {
    const size_t bar = row.find('|');
    EXPECT_EQ(std::stoull(row.substr(bar + 1)), expected[row.substr(0, bar)])
        << row;
  }
  EXPECT_FALSE(expected.empty());
}

}  // namespace
}  // namespace kymo::query
