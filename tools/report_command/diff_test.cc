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

TEST(DiffTest, RowsOfOneKeyAreAddedUp) {
  const std::vector<report::TableRow> before = {Row("a", 5, 2), Row("a", 3, 4)};
  const std::vector<report::TableRow> after = {Row("a", 1, 1), Row("a", 4, 6)};
  const auto diff = DiffRows(before, after, "");
  ASSERT_EQ(diff->rows().size(), 1u);
  EXPECT_EQ(diff->rows()[0].before_us, 8);
  EXPECT_EQ(diff->rows()[0].after_us, 5);
  EXPECT_EQ(diff->rows()[0].count_before, 6);
  EXPECT_EQ(diff->rows()[0].count_after, 7);
}

TEST(DiffTest, EachTimeCanBeCompared) {
  report::TableRow row = Row("a", 1);  // 10 us in total
  row.self_device_time_total_us = 100;
  row.device_time_total_us = 1000;
  const std::vector<report::TableRow> rows = {row};
  const auto compared = [&](const char* metric) {
    return DiffRows(rows, rows, metric)->rows()[0].before_us;
  };
  EXPECT_EQ(compared("self_cpu_time_total"), 1);
  EXPECT_EQ(compared("cpu_time_total"), 10);
  EXPECT_EQ(compared("self_device_time_total"), 100);
  EXPECT_EQ(compared("device_time_total"), 1000);
  // A device that worked in the second trace only is compared as well.
  const std::vector<report::TableRow> without = {Row("a", 1)};
  EXPECT_EQ(DiffRows(without, rows, "")->rows()[0].after_us, 100);
  // Times of nested ranges have no total.
  EXPECT_EQ(DiffRows(rows, rows, "cpu_time_total")
                ->Text(TextFormat::kText, {})
                .find("total:"),
            std::string::npos);
}

TEST(DiffTest, DifferencesBelowAPicosecondAreNone) {
  const auto change = [](double after_us) {
    const std::vector<report::TableRow> before = {Row("a", 5)};
    const std::vector<report::TableRow> after = {Row("a", after_us)};
    return DiffRows(before, after, "")->rows()[0].change;
  };
  EXPECT_EQ(change(5 + 5e-7), Change::kSame);
  EXPECT_EQ(change(5 - 5e-7), Change::kSame);
  EXPECT_EQ(change(5 + 2e-6), Change::kSlower);
  EXPECT_EQ(change(5 - 2e-6), Change::kFaster);
}

// Largest difference first, whichever way it goes.
TEST(DiffTest, OnlyTheLargestDifferencesAreShown) {
  const std::vector<report::TableRow> before = {Row("a", 5), Row("b", 5),
                                                Row("c", 9, 2)};
  const std::vector<report::TableRow> after = {Row("a", 6), Row("b", 8),
                                               Row("c", 2, 3)};
  const std::string titles =
      "name,change,before_us,after_us,difference_us,count_before,count_after,"
      "is_device,is_user_annotation,overload_name,input_shapes,stack\r\n";
  const std::string rows[] = {"c,faster,9,2,-7,2,3,false,false,,,\r\n",
                              "b,slower,5,8,3,1,1,false,false,,,\r\n",
                              "a,slower,5,6,1,1,1,false,false,,,\r\n"};
  const auto diff = DiffRows(before, after, "");
  report::TableOptions table;
  EXPECT_EQ(diff->Text(TextFormat::kCsv, table),
            titles + rows[0] + rows[1] + rows[2]);
  table.row_limit = 0;
  EXPECT_EQ(diff->Text(TextFormat::kCsv, table), titles);
  EXPECT_EQ(diff->Text(TextFormat::kText, table).find("slower  "),
            std::string::npos);
  table.row_limit = 2;
  EXPECT_EQ(diff->Text(TextFormat::kCsv, table), titles + rows[0] + rows[1]);
  const std::string text = diff->Text(TextFormat::kText, table);
  EXPECT_NE(text.find("\n    b        slower  "), std::string::npos) << text;
  EXPECT_EQ(text.find("\n    a  "), std::string::npos) << text;
  // What is not shown counts all the same.
  EXPECT_TRUE(text.ends_with("\n2 slower, 1 faster, 0 new, 0 gone, 0 same\n"));
  table.row_limit = 1;
  const auto functions = DiffRows(before, after, "", DiffOf::kSampledFunctions);
  EXPECT_EQ(functions->Text(TextFormat::kCsv, table),
            "name,module,change,before_us,after_us,difference_us,"
            "samples_before,samples_after\r\nc,,faster,9,2,-7,2,3\r\n");
  EXPECT_NE(functions->Text(TextFormat::kText, table).find("  # before  "),
            std::string::npos);
}

TEST(DiffTest, OtherColumnsAreNoMetric) {
  EXPECT_EQ(DiffRows({}, {}, "count").status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kymo::tools
