#include "profiler/report/device_tables.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/report/test_device_trace.h"

namespace kymo::report {
namespace {

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

}  // namespace
}  // namespace kymo::report
