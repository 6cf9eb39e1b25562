#include "profiler/report/device_tables.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/test_trace.h"

namespace kymo::report {
namespace {

using model::ActivityType;
using model::Arg;

// An operation that launches a kernel and a copy, and a kernel that nobody
// launched.
model::Trace SomeTrace() {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "aten::mm", 1000, 9000);
  t.AddRange(main, "cudaLaunchKernel", 2000, 3000, ActivityType::kCudaRuntime);
  t.Describe(1);
  t.AddRange(main, "cudaMemcpyAsync", 4000, 5000, ActivityType::kCudaRuntime);
  t.Describe(2);
  const auto stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "gemm", 3500, 6000, ActivityType::kConcurrentKernel);
  t.Describe(1);
  t.AddRange(stream, "Memcpy DtoH (Device -> Pinned)", 6010, 7010,
             ActivityType::kGpuMemcpy);
  t.Describe(2, {Arg::Int(t.Intern("bytes"), 5000)});
  t.AddRange(stream, "ncclDevKernel_AllReduce", 8000, 12000,
             ActivityType::kConcurrentKernel);
  return std::move(t).Build();
}

TEST(DeviceTablesTest, OperationsShowTheirShares) {
  const model::Trace trace = SomeTrace();
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
  const ValueTable table = DeviceCopyTable(analysis::CopySums(SomeTrace()));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "Memcpy DtoH");
  EXPECT_EQ(std::get<int64_t>(table.rows[0][3]), 5000);
  EXPECT_DOUBLE_EQ(std::get<double>(table.rows[0][5]), 5e9);
}

TEST(DeviceTablesTest, ThePathIsSummedByCauseAndName) {
  const model::Trace trace = SomeTrace();
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

}  // namespace
}  // namespace kymo::report
