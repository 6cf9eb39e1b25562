#include "profiler/report/sample_table.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::report {
namespace {

using ::testing::HasSubstr;

SampleTable MakeTable() {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddSample(main, 1, 500'000'000, {"main", "encode"}, "/usr/bin/xz");
  t.AddSample(main, 2, 1'000'000, {"main"}, "/usr/bin/xz");
  t.AddSample(main, 3, 299'000'000, {"crc64"}, "/usr/lib/liblzma.so.5");
  return MakeSampleTable(std::move(t).Build());
}

TEST(SampleTableTest, ShowsFunctionsBySelfTime) {
  const auto text = FormatSampleTable(MakeTable(), {});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(
      *text,
      R"(----------  ------------  ------------  ------------  ------------  -------------  -------------------------  
      Name    Self CPU %      Self CPU   CPU total %     CPU total  Samples total  Module                     
----------  ------------  ------------  ------------  ------------  -------------  -------------------------  
    encode        62.50%     500.000ms        62.50%     500.000ms              1  /usr/bin/xz                
     crc64        37.38%     299.000ms        37.38%     299.000ms              1  /usr/lib/liblzma.so.5      
      main         0.12%       1.000ms        62.62%     501.000ms              2  /usr/bin/xz                
----------  ------------  ------------  ------------  ------------  -------------  -------------------------  
Sampled CPU time total: 800.000ms
Number of samples: 3
)");
}

TEST(SampleTableTest, NamesCannotBreakRows) {
  TestTrace t;
  t.AddSample(t.AddThread(1, 1, "main"), 1, 1, {"two\nlines"}, "/a\x1b[2J");
  const auto text =
      FormatSampleTable(MakeSampleTable(std::move(t).Build()), {});
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("two\\nlines"));
  EXPECT_THAT(*text, HasSubstr("/a\\x1b[2J"));
}

TEST(SampleTableTest, SortsLimitsAndHeads) {
  SampleTableOptions options;
  options.sort_by = "count";
  options.row_limit = 1;
  options.header = "Hot";
  options.time_unit = "s";
  options.max_module_column_width = 10;
  const auto text = FormatSampleTable(MakeTable(), options);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("\nHot\n"));
  EXPECT_THAT(*text, HasSubstr("main         0.12%        0.001s"));
  EXPECT_THAT(*text, HasSubstr(".../bin/xz  \n"));
  EXPECT_THAT(*text, testing::Not(HasSubstr("crc64")));
  EXPECT_THAT(*text, HasSubstr("Number of samples: 3\n"));
}

// torch.profiler's EventList.table has row_limit=100, max_src_column_width=75,
// max_name_column_width=55, max_shapes_column_width=80.
TEST(SampleTableTest, TablesHaveTheDefaultsOfPyTorch) {
  const TableOptions options;
  EXPECT_EQ(options.row_limit, 100);
  EXPECT_EQ(options.max_name_column_width, 55);
  EXPECT_EQ(options.max_src_column_width, 75);
  EXPECT_EQ(options.max_shapes_column_width, 80);
  EXPECT_FALSE(options.header.has_value());
  EXPECT_FALSE(options.top_level_events_only);
  EXPECT_FALSE(options.profile_memory);
  EXPECT_FALSE(options.with_flops);
  const SampleTableOptions samples;
  EXPECT_EQ(samples.sort_by, "self_cpu_time_total");
  EXPECT_EQ(samples.row_limit, 100);
  EXPECT_EQ(samples.max_name_column_width, 55);
  EXPECT_EQ(samples.max_module_column_width, 40);
}

TEST(SampleTableTest, RowsCountOneCallAndNoTime) {
  const TableRow row;
  EXPECT_EQ(row.device, RowDevice::kCpu);
  EXPECT_FALSE(row.is_legacy || row.is_user_annotation || row.is_async ||
               row.has_parent);
  EXPECT_EQ(row.node_id, -1);
  EXPECT_EQ(row.count, 1);
  EXPECT_EQ(row.cpu_time_total_us, 0);
  EXPECT_EQ(row.self_cpu_time_total_us, 0);
  EXPECT_EQ(row.device_time_total_us, 0);
  EXPECT_EQ(row.self_device_time_total_us, 0);
  EXPECT_EQ(row.cpu_memory_usage_bytes, 0);
  EXPECT_EQ(row.self_cpu_memory_usage_bytes, 0);
  EXPECT_EQ(row.device_memory_usage_bytes, 0);
  EXPECT_EQ(row.self_device_memory_usage_bytes, 0);
  EXPECT_EQ(row.flops, 0);
  const SampleTableRow sampled;
  EXPECT_EQ(sampled.cpu_time_us, 0);
  EXPECT_EQ(sampled.self_cpu_time_us, 0);
  EXPECT_EQ(sampled.sample_count, 0);
  const SampleTable table;
  EXPECT_EQ(table.sampled_ns, 0);
  EXPECT_EQ(table.sample_count, 0);
}

TEST(SampleTableTest, UnknownSortKeyIsAnError) {
  SampleTableOptions options;
  options.sort_by = "flops";
  const auto text = FormatSampleTable(MakeTable(), options);
  EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(text.status().message()),
              HasSubstr("self_cpu_time_total"));
}

TEST(SampleTableTest, KeysOfOtherTablesMeanSelfTime) {
  EXPECT_EQ(SampleSortKey("count"), "count");
  EXPECT_EQ(SampleSortKey("cpu_time_total"), "cpu_time_total");
  EXPECT_EQ(SampleSortKey("self_cpu_time_total"), "self_cpu_time_total");
  EXPECT_EQ(SampleSortKey("self_device_time_total"), "self_cpu_time_total");
  EXPECT_EQ(SampleSortKey(""), "self_cpu_time_total");
}

TEST(SampleTableTest, NoSamplesGiveNoText) {
  const auto text = FormatSampleTable(MakeSampleTable(TestTrace().Build()), {});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "");
}

TEST(SampleTableTest, SamplesWithoutFramesHaveAName) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddSample(main, 1, 1000, {});
  const SampleTable table = MakeSampleTable(std::move(t).Build());
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].name, "[unknown]");
}

TEST(SampleTableTest, RowsAreInTheOrderThatWasAskedForUpToTheLimit) {
  const SampleTable table = MakeTable();
  const auto names = [&](const std::string& sort_by, int limit) {
    const auto rows =
        ShownSampleRows(table, {.sort_by = sort_by, .row_limit = limit});
    EXPECT_TRUE(rows.ok()) << rows.status();
    std::string text;
    for (const SampleTableRow& row : *rows) text += row.name + " ";
    return text;
  };
  EXPECT_EQ(names("cpu_time_total", -1), "main encode crc64 ");
  EXPECT_EQ(names("count", -1), "main encode crc64 ");
  EXPECT_EQ(names("self_cpu_time_total", -1), "encode crc64 main ");
  EXPECT_EQ(names("", 3), "encode crc64 main ");
  EXPECT_EQ(names("", 2), "encode crc64 ");
  EXPECT_EQ(names("", 0), "");
}

TEST(SampleTableTest, SamplesThatAreAddedUpCount) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddSample(0, 1, 700, {"main"});
  t.AddSample(0, 2, 500, {"main"});
  t.AddUpSamples();
  t.AddSample(0, 3, 300, {"main"});
  const SampleTable table = MakeSampleTable(std::move(t).Build());
  EXPECT_EQ(table.sampled_ns, 1'500);
  EXPECT_EQ(table.sample_count, 3);
}

TEST(SampleTableTest, NoTimeHasNoShares) {
  TestTrace t;
  t.AddSample(t.AddThread(1, 1, "main"), 1, 0, {"f"});
  EXPECT_THAT(*FormatSampleTable(MakeSampleTable(std::move(t).Build()), {}),
              HasSubstr(" f             -       0.000us             -  "));
}

TEST(SampleTableTest, RowsHaveTheirTimesInMicroseconds) {
  const SampleTable table = MakeTable();
  EXPECT_EQ(table.sampled_ns, 800'000'000);
  EXPECT_EQ(table.sample_count, 3);
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[2].name, "main");
  EXPECT_EQ(table.rows[2].module, "/usr/bin/xz");
  EXPECT_EQ(table.rows[2].cpu_time_us, 501'000);
  EXPECT_EQ(table.rows[2].self_cpu_time_us, 1'000);
  EXPECT_EQ(table.rows[2].self_sample_count, 1);
  EXPECT_EQ(table.rows[2].sample_count, 2);
}

}  // namespace
}  // namespace kymo::report
