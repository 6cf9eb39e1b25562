#include "exporters/parquet/parquet_exporter.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/parquet/file_reader.h"
#include "profiler/tables/test_tables.h"
#include "profiler/tables/trace_tables.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using parquet::ColumnData;
using parquet::FileReader;
using ::testing::HasSubstr;

FileReader Open(const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/exported.parquet";
  std::ofstream(path, std::ios::binary) << bytes;
  auto file = FileReader::Open(path);
  EXPECT_TRUE(file.ok()) << file.status();
  return *std::move(file);
}

std::string FileOf(const std::string& table, const std::string& job = "app",
                   int rank = 0) {
  return "parquet/" + table + "/job=" + job + "/rank=" + std::to_string(rank) +
         "/part-0.parquet";
}

// In the form of tables::ValuesOf.
std::vector<std::string> ValuesIn(const FileReader& file,
                                  const std::string& name) {
  const auto column = file.FindColumn(name);
  EXPECT_TRUE(column.has_value()) << name;
  std::vector<std::string> values;
  for (size_t g = 0; g < file.group_count(); ++g) {
    ColumnData data;
    EXPECT_TRUE(file.Read(g, *column, data).ok());
    for (size_t row = 0; row < file.group_rows(g); ++row) {
      if (!data.Has(row)) {
        values.push_back("-");
      } else if (!data.ints.empty()) {
        values.push_back(std::to_string(data.ints[row]));
      } else if (!data.bools.empty()) {
        values.push_back(std::to_string(data.bools[row]));
      } else if (!data.text.empty()) {
        values.emplace_back(data.dictionary[data.text[row]]);
      } else {
        char text[32];
        std::snprintf(text, sizeof(text), "%.17g", data.doubles[row]);
        values.emplace_back(text);
      }
    }
  }
  return values;
}

TEST(ParquetExporterTest, FilesHaveTheTablesWithTheirNamesAndValues) {
  const model::Trace trace = tables::SmallTrace();
  const tables::TraceTables tables(trace);
  const Exported files = Export(*NewParquetExporter(), trace);
  ASSERT_EQ(files.size(), tables::AllTables().size());
  const std::string job(trace.Name(trace.processes()[0].name));
  for (const tables::Table& table : tables::AllTables()) {
    std::string bytes;
    for (const auto& [name, text] : files) {
      if (name.starts_with("parquet/" + std::string(table.name) + "/")) {
        bytes = text;
      }
    }
    const FileReader file = Open(bytes);
    EXPECT_EQ(file.Metadata("kymo.table"), table.name);
    EXPECT_EQ(file.Metadata("kymo.schema_version"), "1");
    EXPECT_EQ(file.row_count(), tables.RowCount(table)) << table.name;
    for (const tables::Column& column : table.columns) {
      if (column.name == "rank") continue;
      const size_t rows = tables.RowCount(table);
      if (column.type == tables::ColumnType::kDouble) continue;
      EXPECT_EQ(ValuesIn(file, std::string(column.name)),
                tables::ValuesOf(tables, column, 0, rows))
          << table.name << "." << column.name;
      EXPECT_THAT(std::string(*file.Metadata("kymo.columns")),
                  HasSubstr(column.name));
    }
  }
}

TEST(ParquetExporterTest, JobAndRankAreInTheFolders) {
  TestTrace t;
  t.AddProcess(1, "app");
  t.AddMetadata("distributedInfo", R"({"rank": 12, "world_size": 16})");
  const model::Trace trace = std::move(t).Build();
  EXPECT_TRUE(Export(*NewParquetExporter(), trace)
                  .contains(FileOf("ranks", "app", 12)));
  ExportOptions options;
  options.settings["parquet_job"] = "../a b=\xC3\xA9/%";
  const Exported files = Export(*NewParquetExporter(), trace, options);
  const std::string name = FileOf("ranks", "..%2Fa%20b%3D%C3%A9%2F%25", 12);
  ASSERT_TRUE(files.contains(name)) << files.begin()->first;
  const FileReader file = Open(files.at(name));
  EXPECT_EQ(file.Metadata("kymo.job"), "../a b=\xC3\xA9/%");
  EXPECT_EQ(file.Metadata("kymo.rank"), "12");
  // Readers take it from the folder; two columns of a name confuse them.
  EXPECT_EQ(file.FindColumn("rank"), std::nullopt);
  EXPECT_EQ(ValuesIn(file, "world_size"), std::vector<std::string>{"16"});

  // A cut name has whole characters, and is not another long name's.
  const std::string long_name = std::string(62, 'x') + "\xC3\xA9";
  std::set<std::string> cut;
  for (const char* const end : {"1", "2"}) {
    options.settings["parquet_job"] = long_name + std::string(80, 'y') + end;
    const Exported of_long = Export(*NewParquetExporter(), trace, options);
    EXPECT_TRUE(of_long.begin()->first.find("/job=" + std::string(62, 'x') +
                                            "-") != std::string::npos)
        << of_long.begin()->first;
    cut.insert(of_long.begin()->first);
  }
  EXPECT_EQ(cut.size(), 2u);
  options.settings["parquet_job"] = "__HIVE_DEFAULT_PARTITION__";
  EXPECT_TRUE(
      Export(*NewParquetExporter(), trace, options)
          .contains(FileOf("ranks", "%5F_HIVE_DEFAULT_PARTITION__", 12)));

  options.settings["parquet_job"] = std::string(1000, '/');
  EXPECT_LT(Export(*NewParquetExporter(), trace, options).begin()->first.size(),
            300u);
}

TEST(ParquetExporterTest, TheJobIsTheProgramThatWasStarted) {
  for (const bool is_of_pytorch : {false, true}) {
    TestTrace t;
    t.AddProcess(5, "child");
    t.AddProcess(9, "app");
    t.data().processes[0].parent_pid = 9;
    // PyTorch names processes after ranks.
    if (is_of_pytorch) t.AddMetadata("kymo_recorded_by", R"("PyTorch")");
    EXPECT_TRUE(
        Export(*NewParquetExporter(), std::move(t).Build())
            .contains(FileOf("ranks", is_of_pytorch ? "unknown" : "app")));
  }
}

TEST(ParquetExporterTest, NamesThatAreNoUtf8AreReplaced) {
  TestTrace t;
  t.AddProcess(1, "");
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a\xFF", 0, 1);
  t.AddRange(main, "a\xFE", 2, 3);
  t.AddRange(main, "b", 4, 5);
  const Exported files = Export(*NewParquetExporter(), std::move(t).Build());
  const FileReader file = Open(files.at(FileOf("events", "unknown")));
  EXPECT_EQ(ValuesIn(file, "name"),
            (std::vector<std::string>{"a\xEF\xBF\xBD", "a\xEF\xBF\xBD", "b"}));
  ColumnData data;
  ASSERT_TRUE(file.Read(0, *file.FindColumn("name"), data).ok());
  EXPECT_EQ(data.dictionary.size(), 2u);
}

// Ranges with the jitter of a real program.
model::Trace MakeRanges(int ranges) {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  std::mt19937_64 random(1);
  int64_t now = 1'735'632'360'000'000'000;
  for (int i = 0; i < ranges / 2; ++i) {
    const auto length = static_cast<int64_t>(500 + random() % 20'000);
    t.AddRange(main, "op_" + std::to_string(random() % 200), now, now + length);
    t.AddRange(main, "inner", now + 50, now + length / 2);
    now += length + static_cast<int64_t>(random() % 1'000);
  }
  return std::move(t).Build();
}

TEST(ParquetExporterTest, ARangeTakesAtMostTwelveBytes) {
  constexpr int kRanges = 300'000;
  const Exported files = Export(*NewParquetExporter(), MakeRanges(kRanges));
  size_t bytes = 0;
  for (const auto& [name, text] : files) bytes += text.size();
  EXPECT_LE(static_cast<double>(bytes) / kRanges, 12);
  RecordProperty("bytes_a_range_x100", static_cast<int>(100 * bytes / kRanges));
  // Row groups are parts of the time.
  const FileReader file = Open(files.at(FileOf("events")));
  ASSERT_EQ(file.group_count(), 3u);
  EXPECT_EQ(file.group_rows(0), size_t{1} << 17);
}

TEST(ParquetExporterTest, LongTextsMakeSmallRowGroups) {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 4096; ++i) {
    t.AddRange(main, std::string(8192, 'x') + std::to_string(i), i, i + 1);
  }
  const Exported files = Export(*NewParquetExporter(), std::move(t).Build());
  const FileReader file = Open(files.at(FileOf("events")));
  EXPECT_GE(file.group_count(), 3u);
  EXPECT_EQ(file.row_count(), 4096u);
}

// A page is at most as long as a reader takes, whatever the texts' lengths.
TEST(ParquetExporterTest, VeryLongTextsMakeRowGroupsOfFewRows) {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 24; ++i) {
    t.AddRange(main, std::string(1 << 20, 'x') + std::to_string(i), i, i + 1);
  }
  const Exported files = Export(*NewParquetExporter(), std::move(t).Build());
  const FileReader file = Open(files.at(FileOf("events")));
  ASSERT_GE(file.group_count(), 3u);
  EXPECT_EQ(file.row_count(), 24u);
  for (size_t g = 0; g < file.group_count(); ++g) {
    EXPECT_LE(file.group_rows(g), 8u);
  }
}

}  // namespace
}  // namespace kymo
