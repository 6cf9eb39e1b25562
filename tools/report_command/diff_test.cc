#include "tools/report_command/diff.h"

#include <map>

#include <gtest/gtest.h>

namespace kymo::tools {
namespace {

report::TableRow Row(const std::string& name, double self_us,
                     int64_t count = 1) {
  report::TableRow row;
  row.key = name;
  row.self_cpu_time_total_us = self_us;
  row.cpu_time_total_us = 10 * self_us;
  row.count = count;
  return row;
}

TEST(DiffTest, SaysWhatChangedAndByHowMuch) {
  const std::vector<report::TableRow> before = {
      Row("same", 5), Row("slower", 10, 2), Row("faster", 10), Row("gone", 1)};
  const std::vector<report::TableRow> after = {
      Row("same", 5), Row("slower", 25, 3), Row("faster", 4), Row("new", 2)};
  const auto diff = DiffRows(before, after, "");
  ASSERT_TRUE(diff.ok()) << diff.status();
  EXPECT_EQ(
      diff->Text(TextFormat::kText, {}),
      R"(----------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  
      Name        Change        Before         After    Difference  Difference %  Calls before   Calls after  
----------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  
    slower        slower      10.000us      25.000us     +15.000us      +150.00%             2             3  
    faster        faster      10.000us       4.000us      -6.000us       -60.00%             1             1  
       new           new       0.000us       2.000us      +2.000us            --             0             1  
      gone          gone       1.000us       0.000us      -1.000us      -100.00%             1             0  
      same          same       5.000us       5.000us      +0.000us        +0.00%             1             1  
----------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  
self_cpu_time_total: 26.000us -> 36.000us (+10.000us, +38.46%)
1 slower, 1 faster, 1 new, 1 gone, 1 same
)");
}

TEST(DiffTest, RowsOfDifferentKindsAreDifferent) {
  std::vector<report::TableRow> before = {Row("a", 5)};
  std::vector<report::TableRow> after = {Row("a", 5)};
  after[0].is_user_annotation = true;
  const auto diff = DiffRows(before, after, "cpu_time_total");
  ASSERT_TRUE(diff.ok());
  EXPECT_EQ(diff->CountOf(Change::kNew), 1);
  EXPECT_EQ(diff->CountOf(Change::kGone), 1);
  EXPECT_EQ(diff->rows()[0].before_us + diff->rows()[0].after_us, 50);
}

TEST(DiffTest, DevicesAreComparedByTheirTime) {
  std::vector<report::TableRow> before = {Row("kernel", 0)};
  before[0].self_device_time_total_us = 3;
  const auto diff = DiffRows(before, before, "");
  ASSERT_TRUE(diff.ok());
  EXPECT_EQ(diff->rows()[0].before_us, 3);
  EXPECT_NE(diff->Text(TextFormat::kJson, {}).find("self_device_time_total"),
            std::string::npos);
}

// The work of a device counts once: rows of operations and annotations repeat
// it.
TEST(DiffTest, TotalsOfADeviceAreItsWork) {
  std::vector<report::TableRow> rows = {Row("kernel", 0), Row("step", 0),
                                        Row("aten::mm", 7)};
  for (report::TableRow& row : rows) {
    row.self_device_time_total_us = 3;
    if (row.key != "aten::mm") row.device = report::RowDevice::kDevice;
  }
  rows[1].is_user_annotation = true;
  std::vector<report::TableRow> after = rows;
  after[0].self_device_time_total_us = 4;
  const auto diff = DiffRows(rows, after, "");
  ASSERT_TRUE(diff.ok());
  EXPECT_NE(diff->Text(TextFormat::kText, {})
                .find("self_device_time_total: 3.000us -> 4.000us (+1.000us, "),
            std::string::npos)
      << diff->Text(TextFormat::kText, {});
}

TEST(DiffTest, OtherColumnsAreNoMetric) {
  EXPECT_EQ(DiffRows({}, {}, "count").status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kymo::tools
