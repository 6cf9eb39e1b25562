#include "profiler/report/table.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/text/text_cells.h"

namespace kymo::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The text that PyTorch 2.14.1 printed for the same events.
std::string Golden(const std::string& name) {
  std::ifstream in("profiler/report/testdata/" + name + ".golden.txt",
                   std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string Format(const std::vector<TableRow>& rows,
                   const TableOptions& options = {}) {
  const auto text = FormatTable(rows, options);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? *text : "";
}

TableRow Cpu(std::string key, double total_us, double self_us,
             int64_t count = 1) {
  TableRow row;
  row.key = std::move(key);
  row.cpu_time_total_us = total_us;
  row.self_cpu_time_total_us = self_us;
  row.count = count;
  return row;
}

TableRow Device(std::string key, double total_us, int64_t count = 1) {
  TableRow row;
  row.key = std::move(key);
  row.device = RowDevice::kDevice;
  row.device_time_total_us = row.self_device_time_total_us = total_us;
  row.count = count;
  return row;
}

// Averages of a small inference, with memory and FLOPs.
std::vector<TableRow> Inference() {
  std::vector<TableRow> rows = {Cpu("model_inference", 2500.5, 500.5),
                                Cpu("aten::linear", 1000, 99.75),
                                Cpu("aten::addmm", 900.25, 850.25),
                                Cpu("aten::copy_", 50, 50),
                                Cpu("aten::relu", 1000, 125.125, 2),
                                Cpu("aten::clamp_min", 874.875, 874.875, 2)};
  rows[1].cpu_memory_usage_bytes = 1536;
  rows[2].cpu_memory_usage_bytes = rows[2].self_cpu_memory_usage_bytes = 1536;
  rows[2].flops = 65536;
  rows[4].cpu_memory_usage_bytes = 1024;
  rows[5].cpu_memory_usage_bytes = rows[5].self_cpu_memory_usage_bytes = 1024;
  return rows;
}

std::vector<TableRow> Stacked() {
  std::vector<TableRow> rows = {Cpu("aten::mm", 10, 10),
                                Cpu("aten::add", 5, 5)};
  rows[0].stack = {"model.py(10): forward", "train.py(20): step"};
  rows[0].flops = 2048;
  rows[1].stack = {"model.py(11): forward", "train.py(20): step"};
  return rows;
}

TEST(TableTest, Averages) {
  EXPECT_EQ(Format(Inference()), Golden("averages"));
}

TEST(TableTest, HeaderMemoryFlopsAndRowLimit) {
  TableOptions options;
  options.sort_by = "self_cpu_time_total";
  options.row_limit = 2;
  options.header = "My header";
  options.profile_memory = options.with_flops = true;
  EXPECT_EQ(Format(Inference(), options), Golden("header_memory_flops"));
}

TEST(TableTest, TopLevelEventsOnly) {
  std::vector<TableRow> rows = Inference();
  for (size_t i = 1; i < rows.size(); ++i) rows[i].has_parent = true;
  TableOptions options;
  options.sort_by = "self_cpu_time_total";
  options.top_level_events_only = true;
  EXPECT_EQ(Format(rows, options), Golden("top_level"));
}

TEST(TableTest, DeviceTimesAndMemory) {
  std::vector<TableRow> rows = {Cpu("fwd", 1000, 450),
                                Cpu("aten::mm", 550, 530, 2),
                                Cpu("cudaLaunchKernel", 20, 20),
                                Device("fwd", 450), Device("sgemm", 400, 2)};
  rows[0].device_time_total_us = 400;
  rows[0].device_memory_usage_bytes = 16384;
  rows[1].device_time_total_us = rows[1].self_device_time_total_us = 400;
  rows[1].device_memory_usage_bytes = 16384;
  rows[1].self_device_memory_usage_bytes = 16384;
  rows[3].is_user_annotation = true;
  TableOptions options;
  options.sort_by = "cuda_time_total";
  options.profile_memory = true;
  options.use_device = "cuda";
  EXPECT_EQ(Format(rows, options), Golden("device"));
}

TEST(TableTest, ShapesHaveTheirColumn) {
  std::vector<TableRow> rows = {Cpu("a", 1, 1), Cpu("b", 1, 1)};
  rows[0].input_shapes = "[[64, 32], [32, 64]]";
  rows[1].input_shapes = "[]";
  const std::string text = Format(rows);
  EXPECT_THAT(text, HasSubstr("            Input Shapes  \n"));
  EXPECT_THAT(text, HasSubstr("    [[64, 32], [32, 64]]  \n"));
  EXPECT_THAT(text, HasSubstr("                      []  \n"));
}

TEST(TableTest, ShapesOfNoInputsHaveNoColumn) {
  std::vector<TableRow> rows = {Cpu("a", 1, 1), Cpu("b", 1, 1)};
  const std::string without = Format(rows);
  rows[0].input_shapes = "[]";
  rows[1].input_shapes = "None";
  EXPECT_EQ(Format(rows), without);
}

TEST(TableTest, LongNamesAreCutEvenWhereTheyWouldFit) {
  EXPECT_EQ(Format({Cpu("aten::_a_rather_long_operator_name_that_has_52_chars",
                        10, 10)}),
            Golden("long_name"));
}

TEST(TableTest, AsyncRowsHaveNoShareOfTheTotal) {
  std::vector<TableRow> rows = {Cpu("x", 3, 0), Cpu("y", 4, 4)};
  rows[0].is_async = true;
  EXPECT_EQ(Format(rows), Golden("async"));
}

TEST(TableTest, ShareOfNothingIsNan) {
  EXPECT_EQ(Format({Cpu("x", 0, 0)}), Golden("zero_length"));
}

TEST(TableTest, StacksTakeALinePerEntry) {
  EXPECT_EQ(Format(Stacked()), Golden("stacks"));
}

TEST(TableTest, StacksAndFlopsStandSwapped) {
  TableOptions options;
  options.with_flops = true;
  EXPECT_EQ(Format(Stacked(), options), Golden("stacks_and_flops"));
}

TEST(TableTest, EventsOfALanguage) {
  EXPECT_EQ(Format({Cpu("run.py(3): step", 10, 6), Cpu("aten::mm", 4, 2),
                    Cpu("aten::add", 2, 2)}),
            Golden("frames_events"));
  TableOptions options;
  options.sort_by = "self_cpu_time_total";
  EXPECT_EQ(Format({Cpu("aten::mm", 4, 2), Cpu("aten::add", 2, 2)}, options),
            Golden("frames_averages"));
}

TEST(TableTest, NodeIdsAndForcedUnit) {
  std::vector<TableRow> rows = {Cpu("a", 1500, 1500), Cpu("b", 1.5, 1.5)};
  rows[0].flops = 999;
  rows[0].node_id = 0;
  rows[1].flops = 2'000'000;
  rows[1].node_id = 1;
  TableOptions options;
  options.with_flops = true;
  options.time_unit = "ms";
  EXPECT_EQ(Format(rows, options), Golden("node_id_ms"));
}

TEST(TableTest, NoRowsGiveNoText) {
  TableOptions options;
  options.header = "x";
  EXPECT_EQ(Format({}, options), "");
}

TEST(TableTest, UnknownSortKeyListsTheValidOnes) {
  TableOptions options;
  options.sort_by = "wall_time";
  const auto text = FormatTable(Inference(), options);
  EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message(text.status().message());
  EXPECT_THAT(message, HasSubstr("'wall_time'"));
  for (const std::string_view key : TableSortKeys()) {
    EXPECT_THAT(message, HasSubstr(std::string(key)));
  }
}

TEST(TableTest, EveryListedSortKeyWorksAndEqualRowsKeepTheirOrder) {
  for (const std::string_view key : TableSortKeys()) {
    TableOptions options;
    options.sort_by = key;
    EXPECT_TRUE(FormatTable(Inference(), options).ok()) << key;
  }
  TableOptions options;
  options.sort_by = "privateuse1_time";
  EXPECT_EQ(Format(Inference(), options), Golden("averages"));
}

// 4 ms of 10 ms in `load`; nobody recorded the thread of `save`.
std::vector<TableRow> Waiting() {
  std::vector<TableRow> rows = {Cpu("save", 5000, 5000), Cpu("step", 20000, 0),
                                Cpu("load", 10000, 10000)};
  rows[1].wait_time_total_us = 4000;
  rows[2].wait_time_total_us = 4000.5;
  return rows;
}

TEST(TableTest, WaitsAreShownOnRequest) {
  const std::string plain = Format(Waiting());
  EXPECT_THAT(plain, Not(HasSubstr("Wait")));
  const std::string text = Format(Waiting(), {.sort_by = "wait_time_total"});
  EXPECT_EQ(
      text,
      R"(--------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  
    Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg        On CPU     Wait time        Wait %    # of Calls  
--------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  
    load        66.67%      10.000ms        66.67%      10.000ms      10.000ms       6.000ms       4.000ms        40.01%             1  
    step         0.00%       0.000us       133.33%      20.000ms      20.000ms      16.000ms       4.000ms        20.00%             1  
    save        33.33%       5.000ms        33.33%       5.000ms       5.000ms            --            --            --             1  
--------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  
Self CPU time total: 15.000ms
)");
  EXPECT_THAT(Format(Waiting(), {.sort_by = "count", .with_waits = true}),
              HasSubstr("Wait %"));
}

// PyTorch's columns say NaN there.
TEST(TableTest, NothingWaitedNoPartOfNoTime) {
  std::vector<TableRow> rows = Waiting();
  rows[1].cpu_time_total_us = 0;
  rows[1].wait_time_total_us = 0;
  EXPECT_THAT(Format(rows, {.sort_by = "wait_time_total"}),
              HasSubstr("0.000us       0.000us            --             1"));
}

TEST(TableTest, DeviceDataNeedsADevice) {
  EXPECT_EQ(
      FormatTable(std::vector<TableRow>{Device("k", 1)}, {}).status().code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(TableTest, RowLimits) {
  const auto lines = [](int limit) {
    TableOptions options;
    options.row_limit = limit;
    const std::string text = Format(Inference(), options);
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(-1), 11);
  EXPECT_EQ(lines(0), 5);
  EXPECT_EQ(lines(3), 8);
}

TEST(TableTest, WidthsCountCodePoints) {
  TableOptions options;
  options.max_name_column_width = 8;
  const std::string text =
      Format({Cpu("λλλλλλλλλλ", 1, 1), Cpu("Ωm", 1, 1)}, options);
  EXPECT_THAT(text, HasSubstr("\nλλλλλ...  "));
  EXPECT_THAT(text, HasSubstr("\n      Ωm  "));
}

TEST(TableTest, NamesWithinThreeOfTheLimitGetDots) {
  for (const auto& [length, is_cut] :
       {std::pair(51, false), {52, true}, {55, true}, {56, true}}) {
    const std::string name(static_cast<size_t>(length), 'n');
    const std::string cell = is_cut ? std::string(52, 'n') + "..." : name;
    EXPECT_THAT(Format({Cpu(name, 1, 1)}), HasSubstr(cell + "  ")) << length;
  }
}

TEST(TableTest, OverloadNamesHaveTheirColumn) {
  std::vector<TableRow> rows = {Cpu("aten::add", 1, 1), Cpu("b", 1, 1)};
  rows[0].overload_name = "Tensor";
  EXPECT_THAT(Format(rows), HasSubstr("         Name  Overload Name    Self"));
  EXPECT_THAT(Format(rows), HasSubstr("    aten::add         Tensor  "));
}

TEST(TableTest, ShapesAreCutAtTheEndAndPathsAtTheBeginning) {
  std::vector<TableRow> rows = {Cpu("a", 1, 1)};
  rows[0].input_shapes = std::string(90, 's');
  rows[0].stack = {"begin" + std::string(80, 'p') + "end"};
  const std::string text = Format(rows);
  EXPECT_THAT(text, HasSubstr("  " + std::string(80, 's') + "  ..."));
  EXPECT_THAT(text, HasSubstr("..." + std::string(69, 'p') + "end  \n"));
}

TEST(TableTest, FlopsAreScaledByTheSmallest) {
  const auto text = [](double flops) {
    std::vector<TableRow> rows = {Cpu("a", 1, 1), Cpu("b", 1, 1)};
    rows[0].flops = flops;
    TableOptions options;
    options.with_flops = true;
    return Format(rows, options);
  };
  EXPECT_THAT(text(1), HasSubstr(" Total FLOPs  "));
  EXPECT_THAT(text(999), HasSubstr("     999.000  "));
  EXPECT_THAT(text(1000), HasSubstr("Total KFLOPs  "));
  EXPECT_THAT(text(1e15), HasSubstr("Total PFLOPs  "));
  EXPECT_THAT(text(1e18), HasSubstr("    1000.000  "));
  EXPECT_THAT(text(1e20), HasSubstr("  100000.000  "));
  EXPECT_THAT(text(5), HasSubstr("          --  "));
  EXPECT_EQ(text(0).find("FLOPs"), std::string::npos);
}

TEST(TableTest, NoLimitShowsWholeNames) {
  TableOptions options;
  options.max_name_column_width = std::nullopt;
  const std::string name(300, 'n');
  EXPECT_THAT(Format({Cpu(name, 1, 1)}, options), HasSubstr(name + "  "));
}

TEST(TableTest, NamesCannotBreakRows) {
  TableRow row = Cpu("two\nlines", 1, 1);
  row.overload_name = "\x1b[31mred";
  row.input_shapes = "[\t]";
  row.stack = {"a\rb"};
  const std::string text = Format({row});
  EXPECT_THAT(text, HasSubstr("two\\nlines"));
  EXPECT_THAT(text, HasSubstr("\\x1b[31mred"));
  EXPECT_THAT(text, HasSubstr("[\\t]"));
  EXPECT_THAT(text, HasSubstr("a\\rb"));
}

TEST(TableTest, AveragesBecomeRows) {
  analysis::KeyAverage average;
  average.name = "f";
  average.count = 2;
  average.cpu_time_total_ns = 3'001;
  average.self_cpu_time_total_ns = 1'500;
  const auto rows = TableRows(std::vector{average});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].key, "f");
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].cpu_time_total_us, 3.001);
  EXPECT_EQ(rows[0].self_cpu_time_total_us, 1.5);
}

TEST(TextCellsTest, Times) {
  EXPECT_EQ(FormatTime(0, ""), "0.000us");
  EXPECT_EQ(FormatTime(999.9996, ""), "1000.000us");
  EXPECT_EQ(FormatTime(1000, ""), "1.000ms");
  EXPECT_EQ(FormatTime(1234567, ""), "1.235s");
  EXPECT_EQ(FormatTime(-2500, ""), "-2500.000us");
  EXPECT_EQ(FormatTime(1500, "s"), "0.002s");
  EXPECT_EQ(FormatTime(1500, "us"), "1500.000us");
  EXPECT_EQ(FormatTime(1500, "weeks"), "1.500ms");
}

TEST(TextCellsTest, Memory) {
  EXPECT_EQ(FormatMemory(0), "0 B");
  EXPECT_EQ(FormatMemory(1023), "1023 B");
  EXPECT_EQ(FormatMemory(1024), "1.00 KB");
  EXPECT_EQ(FormatMemory(-1536), "-1.50 KB");
  EXPECT_EQ(FormatMemory(1048575), "1024.00 KB");
  EXPECT_EQ(FormatMemory(int64_t{3} << 30), "3.00 GB");
}

}  // namespace
}  // namespace kymo::report
