#include "profiler/report/device_tables.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profiler/report/test_device_trace.h"
#include "tests/support/test_trace.h"

namespace kymo::report {
namespace {

using ::testing::ElementsAre;

TEST(DeviceTablesTest, OperationsShowTheirShares) {
  const model::Trace trace = DeviceTrace();
  EXPECT_EQ(
      FormatValueTable(
          DeviceOperationTable(
              trace, analysis::OperationSums(trace, analysis::Launches(trace))),
          {}),
      "--------------  -------------  ------------  ------------  ------------ "
      " -------------  \n"
      "Operation       Self device %   Self device      Device %  Device total "
      " # of Launches  \n"
      "--------------  -------------  ------------  ------------  ------------ "
      " -------------  \n"
      "(no operation)         53.33%       4.000us        53.33%       4.000us "
      "             1  \n"
      "aten::mm               46.67%       3.500us        46.67%       3.500us "
      "             2  \n"
      "--------------  -------------  ------------  ------------  ------------ "
      " -------------  \n");
}

TEST(DeviceTablesTest, CopiesShowTheirBandwidth) {
  const ValueTable table = DeviceCopyTable(analysis::CopySums(DeviceTrace()));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "Memcpy DtoH");
  EXPECT_EQ(std::get<int64_t>(table.rows[0][3]), 5000);
  EXPECT_DOUBLE_EQ(std::get<double>(table.rows[0][5]), 5e9);
}

TEST(DeviceTablesTest, ThePathIsSummedByCauseAndName) {
  const model::Trace trace = DeviceTrace();
  const analysis::CriticalPath path =
      analysis::FindCriticalPath(trace, analysis::Launches(trace), {});
  const ValueTable table = CriticalPathTable(trace, path);
  DurationNs sum = 0;
  for (const std::vector<Value>& row : table.rows) {
    sum += std::get<int64_t>(row[3]);
  }
  EXPECT_EQ(sum, path.length_ns);
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "kernel");
  EXPECT_EQ(std::get<std::string>(table.rows[0][1]), "ncclDevKernel_AllReduce");
}

// "column=value ...", for each row; "-" is no value.
std::vector<std::string> Texts(const ValueTable& table) {
  std::vector<std::string> texts;
  for (const std::vector<Value>& row : table.rows) {
    EXPECT_EQ(row.size(), table.columns.size());
    std::string& text = texts.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : " ", table.columns[i].name, "=");
      if (const auto* const integer = std::get_if<int64_t>(&row[i])) {
        absl::StrAppend(&text, *integer);
      } else if (const auto* const number = std::get_if<double>(&row[i])) {
        absl::StrAppend(&text, *number, "d");
      } else if (const auto* const words = std::get_if<std::string>(&row[i])) {
        absl::StrAppend(&text, *words);
      } else {
        absl::StrAppend(&text, "-");
      }
    }
  }
  return texts;
}

// Each number is another one, so that no two columns can be mixed up.
TEST(DeviceTablesTest, DeviceTimesAreInTheirColumns) {
  std::vector<analysis::DeviceTimes> devices = {{.pid = 1,
                                                 .index = 2,
                                                 .stream_count = 3,
                                                 .kernel_count = 4,
                                                 .copy_count = 5,
                                                 .window_ns = 80,
                                                 .busy_ns = 60,
                                                 .idle_ns = 20,
                                                 .compute_ns = 9,
                                                 .communication_ns = 40,
                                                 .memory_ns = 11,
                                                 .overlap_ns = 10,
                                                 .memory_overlap_ns = 13,
                                                 .summed_ns = 14},
                                                {}};
  EXPECT_THAT(
      Texts(DeviceTimesTable(devices)),
      ElementsAre(
          "process=1 device=2 streams=3 kernels=4 copies=5 window_ns=80 "
          "busy_ns=60 idle_ns=20 idle_share=0.25d compute_ns=9 "
          "communication_ns=40 memory_ns=11 overlap_ns=10 overlap_share=0.25d "
          "memory_overlap_ns=13 summed_ns=14",
          "process=0 device=0 streams=0 kernels=0 copies=0 window_ns=0 "
          "busy_ns=0 idle_ns=0 idle_share=0d compute_ns=0 communication_ns=0 "
          "memory_ns=0 overlap_ns=0 overlap_share=- memory_overlap_ns=0 "
          "summed_ns=0"));
}

TEST(DeviceTablesTest, KernelsAndOperationsAreInTheirColumns) {
  TestTrace t;
  const model::NameId gemm = t.Intern("gemm");
  const model::NameId mm = t.Intern("mm");
  const model::Trace trace = std::move(t).Build();
  EXPECT_THAT(
      Texts(DeviceKernelTable(trace,
                              std::vector<analysis::KernelSum>{
                                  {.name = gemm,
                                   .kind = analysis::WorkKind::kCompute,
                                   .count = 4,
                                   .total_ns = 30,
                                   .min_ns = 5,
                                   .max_ns = 11,
                                   .stddev_ns = 2.5},
                                  {.name = mm,
                                   .kind = analysis::WorkKind::kMemory,
                                   .count = 1,
                                   .total_ns = 10,
                                   .min_ns = 10,
                                   .max_ns = 10}})),
      ElementsAre("name=gemm kind=compute share=0.75d total_ns=30 count=4 "
                  "mean_ns=7.5d min_ns=5 max_ns=11 stddev_ns=2.5d",
                  "name=mm kind=memory share=0.25d total_ns=10 count=1 "
                  "mean_ns=10d min_ns=10 max_ns=10 stddev_ns=0d"));
  EXPECT_THAT(
      Texts(DeviceOperationTable(
          trace,
          std::vector<analysis::OperationSum>{
              {.name = mm, .launch_count = 2, .self_ns = 30, .total_ns = 50},
              {.launch_count = 1, .self_ns = 10, .total_ns = 10}})),
      ElementsAre("operation=mm self_share=0.75d self_ns=30 total_share=1.25d "
                  "total_ns=50 launches=2",
                  "operation=(no operation) self_share=0.25d self_ns=10 "
                  "total_share=0.25d total_ns=10 launches=1"));
  EXPECT_THAT(
      Texts(DeviceOperationKernelTable(
          trace,
          std::vector<analysis::OperationKernel>{
              {.operation = mm, .kernel = gemm, .count = 3, .total_ns = 6},
              {.kernel = gemm, .count = 1, .total_ns = 2}})),
      ElementsAre("operation=mm kernel=gemm share=0.75d total_ns=6 count=3",
                  "operation=(no operation) kernel=gemm share=0.25d total_ns=2 "
                  "count=1"));
}

TEST(DeviceTablesTest, CopiesGapsAndQueuesAreInTheirColumns) {
  // 600 bytes in 3 ns are 200 GB/s.
  EXPECT_THAT(
      Texts(DeviceCopyTable(
          std::vector<analysis::CopySum>{{.direction = "Memcpy HtoD",
                                          .count = 3,
                                          .unknown_count = 1,
                                          .bytes = 600,
                                          .total_ns = 4,
                                          .known_ns = 3,
                                          .min_bytes_per_second = 100,
                                          .max_bytes_per_second = 300},
                                         {.direction = "Memset",
                                          .count = 2,
                                          .unknown_count = 2,
                                          .total_ns = 9}})),
      ElementsAre(
          "direction=Memcpy HtoD count=3 unknown_count=1 bytes=600 "
          "total_ns=4 bytes_per_second=2e+11d min_bytes_per_second=100d "
          "max_bytes_per_second=300d",
          "direction=Memset count=2 unknown_count=2 bytes=0 total_ns=9 "
          "bytes_per_second=- min_bytes_per_second=- "
          "max_bytes_per_second=-"));
  EXPECT_THAT(Texts(DeviceIdleTable(
                  std::vector<analysis::IdleTime>{{.pid = 1,
                                                   .device = 2,
                                                   .stream = 7,
                                                   .host_ns = 10,
                                                   .launch_ns = 20,
                                                   .dependency_ns = 50,
                                                   .host_count = 4,
                                                   .launch_count = 5,
                                                   .dependency_count = 6},
                                                  {}})),
              ElementsAre("process=1 device=2 stream=7 idle_ns=80 host_ns=10 "
                          "host_share=0.125d host_count=4 launch_ns=20 "
                          "launch_share=0.25d launch_count=5 dependency_ns=50 "
                          "dependency_share=0.625d dependency_count=6",
                          "process=0 device=0 stream=all idle_ns=0 host_ns=0 "
                          "host_share=0d host_count=0 launch_ns=0 "
                          "launch_share=0d launch_count=0 dependency_ns=0 "
                          "dependency_share=0d dependency_count=0"));
  EXPECT_THAT(
      Texts(DeviceQueueTable(std::vector<analysis::StreamQueue>{
          {.pid = 1,
           .device = 2,
           .stream = 7,
           .launch_count = 4,
           .max_length = 5,
           .mean_length = 1.5,
           .time_mean_length = 2.5,
           .full_ns = 8,
           .delay =
               {.min_ns = 9, .median_ns = 10, .max_ns = 11, .total_ns = 50}}})),
      ElementsAre("process=1 device=2 stream=7 launches=4 max_length=5 "
                  "mean_length=1.5d time_mean_length=2.5d full_ns=8 "
                  "delay_min_ns=9 delay_median_ns=10 delay_mean_ns=12.5d "
                  "delay_max_ns=11"));
}

TEST(DeviceTablesTest, StepsOfThePathThatTakeNoTimeAreNotShown) {
  using enum analysis::PathCause;
  TestTrace t;
  t.SetWindow(1'000, 2'000);
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 1'010, 1'020);
  t.AddRange(main, "b", 1'030, 1'040);
  const model::Trace trace = std::move(t).Build();
  const analysis::CriticalPath path = {
      .steps = {{kHost, 0, 1'010, 1'020, 10},
                {kDependency, 1, 1'020, 1'030, 0},
                {kKernel, 1, 1'030, 1'060, 30},
                {kHost, 0, 1'060, 1'080, 20},
                {kHost, 1, 1'080, 1'120, 20}},
      .length_ns = 80};
  // Of equal sums the cause and then the name decide.
  EXPECT_THAT(Texts(CriticalPathTable(trace, path)),
              ElementsAre("cause=host name=a share=0.375d path_ns=30 count=2",
                          "cause=kernel name=b share=0.375d path_ns=30 count=1",
                          "cause=host name=b share=0.25d path_ns=20 count=1"));
  EXPECT_THAT(Texts(CriticalPathStepTable(trace, path)),
              ElementsAre("start_ns=10 cause=host name=a path_ns=10",
                          "start_ns=30 cause=kernel name=b path_ns=30",
                          "start_ns=60 cause=host name=a path_ns=20",
                          "start_ns=80 cause=host name=b path_ns=20"));
}

TEST(DeviceTablesTest, TitlesSayWhatTheColumnsAre) {
  const auto titles = [](const ValueTable& table) {
    std::string text;
    for (const ValueColumn& column : table.columns) {
      absl::StrAppend(&text, column.title, ", ");
    }
    return text;
  };
  EXPECT_EQ(titles(DeviceTimesTable({})),
            "Process, Device, Streams, Kernels, Copies, Window, Busy, Idle, "
            "Idle %, Compute, Communication, Memory, Overlap, Overlap %, "
            "Mem. overlap, Sum of all, ");
  EXPECT_EQ(titles(DeviceQueueTable({})),
            "Process, Device, Stream, # of Launches, Most queued, Mean queued, "
            "Over time, Full, Least delay, Median delay, Mean delay, "
            "Most delay, ");
}

}  // namespace
}  // namespace kymo::report
