#include "importers/parquet/parquet_importer.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/parquet/parquet_exporter.h"
#include "importers/parquet/part_files.h"
#include "importers/parquet/shard_reader.h"
#include "profiler/normalize/normalize.h"
#include "profiler/plugin/sink.h"
#include "profiler/tables/test_tables.h"
#include "profiler/tables/trace_tables.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Exports into a folder of the test's own. The file of `table`.
std::string ExportTo(const std::string& folder, const model::Trace& trace,
                     const std::string& table = "events") {
  const std::string root = ::testing::TempDir() + "/" + folder;
  fs::remove_all(root);
  OutputDirectory out(root);
  ExportOptions options;
  options.settings["parquet_job"] = "job";
  const auto names = NewParquetExporter()->Export(trace, options, out);
  EXPECT_TRUE(names.ok()) << names.status();
  for (const std::string& name : *names) {
    if (name.starts_with("parquet/" + table + "/")) return root + "/" + name;
  }
  ADD_FAILURE() << table;
  return "";
}

model::Trace Load(const std::string& path) {
  absl::StatusOr<ImportedTrace> imported =
      NewParquetImporter()->Import(path, {});
  EXPECT_TRUE(imported.ok()) << imported.status();
  if (!imported.ok()) return model::Trace({});
  absl::StatusOr<model::Trace> trace =
      Normalize(std::move(imported->shards),
                {.start_ns = imported->start_ns, .end_ns = imported->end_ns});
  EXPECT_TRUE(trace.ok()) << trace.status();
  EXPECT_TRUE(model::ValidateTrace(*trace).ok());
  return *std::move(trace);
}

std::string ErrorOf(const std::string& path) {
  return std::string(NewParquetImporter()->Import(path, {}).status().message());
}

// Without the losses that normalisation finds, as the importer's trace has been
// normalised and the tests' have not.
std::vector<std::string> RecordedRows(const tables::TraceTables& tables,
                                      const std::string& table) {
  std::vector<std::string> rows = tables::RowsOf(tables, table);
  std::erase_if(rows, [](const std::string& row) {
    return row.starts_with("ranges_open_at_end|");
  });
  return rows;
}

// All values of all tables but `names`, which also has texts of no event.
void ExpectSameTables(const model::Trace& got, const model::Trace& wanted) {
  const tables::TraceTables got_tables(got);
  const tables::TraceTables wanted_tables(wanted);
  for (const tables::Table& table : tables::AllTables()) {
    if (table.name == "names") continue;
    const std::string name(table.name);
    EXPECT_EQ(RecordedRows(got_tables, name), RecordedRows(wanted_tables, name))
        << name;
  }
}

TEST(ParquetRoundTripTest, AllTablesOfATraceComeBack) {
  const model::Trace trace = tables::SmallTrace();
  ExpectSameTables(Load(ExportTo("all", trace)), trace);
  // Any of the files stands for the trace.
  ExpectSameTables(Load(ExportTo("all", trace, "ranks")), trace);
}

TEST(ParquetRoundTripTest, TheLimitOfCpuTimeComesBackIfItIsPossible) {
  model::CpuLimit limit = {.quota_ns = 150,
                           .period_ns = 100,
                           .periods = 9,
                           .throttled_periods = 4,
                           .throttled_ns = 70};
  const auto loaded = [&limit] {
    TestTrace t;
    t.AddProcess(1, "app");
    t.SetThreadTimes({{.track = t.AddThread(1, 1, "main"), .wall_ns = 9}});
    t.SetCpuLimit(limit);
    return Load(ExportTo("limit", std::move(t).Build()))
        .thread_states()
        ->cpu_limit;
  };
  EXPECT_EQ(loaded(), limit);
  limit.throttled_periods = 10;
  EXPECT_EQ(loaded(), model::CpuLimit());
}

TEST(ParquetRoundTripTest, TheCpuTimeOfKymoComesBack) {
  TestTrace t;
  t.AddProcess(1, "app");
  t.SetThreadTimes({{.track = t.AddThread(1, 1, "main"), .wall_ns = 9}});
  t.SetKymoCpu(40);
  EXPECT_EQ(
      Load(ExportTo("own", std::move(t).Build())).thread_states()->kymo_cpu_ns,
      40);
}

TEST(ParquetRoundTripTest, ManyRowGroupsOfTracksComeBack) {
  TestTrace t;
  t.AddProcess(1, "app");
  std::mt19937_64 random(1);
  for (int tid = 1; tid <= 3; ++tid) {
    const auto track = t.AddThread(1, tid, "thread");
    int64_t now = 1'000;
    for (int i = 0; i < 30'000; ++i) {
      const auto length = static_cast<int64_t>(100 + random() % 1'000);
      t.AddRange(track, "op" + std::to_string(random() % 50), now,
                 now + length);
      t.AddRange(track, "inner", now + 10, now + length - 10);
      now += length;
    }
  }
  t.SetWindow(0, 100'000'000);
  const model::Trace trace = std::move(t).Build();
  const model::Trace loaded = Load(ExportTo("many", trace));
  for (const char* const column : {"track_id", "parent_id", "name", "start_ns",
                                   "dur_ns", "self_ns", "tid"}) {
    EXPECT_TRUE(
        tables::RowsOf(tables::TraceTables(loaded), "events", {column}) ==
        tables::RowsOf(tables::TraceTables(trace), "events", {column}))
        << column;
  }
}

TEST(ParquetRoundTripTest, AFileAloneIsATraceOfItsEvents) {
  const model::Trace trace = tables::SmallTrace();
  const std::string path = ExportTo("alone", trace);
  const std::string copy = ::testing::TempDir() + "/copied.parquet";
  fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
  const auto imported = NewParquetImporter()->Import(copy, {});
  ASSERT_TRUE(imported.ok()) << imported.status();
  ASSERT_EQ(imported->findings.size(), 1u);
  EXPECT_EQ(imported->findings[0].rule, "table_missing");
  const model::Trace loaded = Load(copy);
  const tables::TraceTables tables(loaded);
  EXPECT_EQ(
      tables::RowsOf(tables, "events",
                     {"name", "start_ns", "dur_ns", "self_ns", "tid", "step"}),
      tables::RowsOf(tables::TraceTables(trace), "events",
                     {"name", "start_ns", "dur_ns", "self_ns", "tid", "step"}));
}

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteAll(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void Replace(std::string& bytes, const std::string& from,
             const std::string& to) {
  const size_t at = bytes.find(from);
  ASSERT_NE(at, bytes.npos) << from;
  ASSERT_EQ(from.size(), to.size());
  bytes.replace(at, from.size(), to);
}

TEST(ParquetRoundTripTest, FilesOfOthersAreRefusedWithAReason) {
  const std::string path = ExportTo("others", tables::SmallTrace());
  const std::string bytes = ReadAll(path);

  std::string other = bytes;
  Replace(other, "kymo.schema_version", "kyno.schema_version");
  WriteAll(path, other);
  EXPECT_THAT(ErrorOf(path), HasSubstr("not of Kymo"));

  // The key, the field of the value, its size.
  other = bytes;
  Replace(other,
          "kymo.schema_version\x18\x01"
          "1",
          "kymo.schema_version\x18\x01"
          "9");
  WriteAll(path, other);
  EXPECT_THAT(ErrorOf(path), HasSubstr("of version 9"));

  WriteAll(path, bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(ErrorOf(path), HasSubstr("cut off"));
  EXPECT_THAT(ErrorOf(path), HasSubstr(path));
}

TEST(ParquetRoundTripTest, FilesOfTwoRecordingsAreRefused) {
  const std::string path = ExportTo("two", tables::SmallTrace());
  TestTrace t;
  t.AddProcess(7, "other");
  t.SetWindow(5, 50);
  const std::string args = ExportTo("three", std::move(t).Build(), "args");
  std::string beside = path;
  beside.replace(beside.find("/events/"), 8, "/args/");
  fs::copy_file(args, beside, fs::copy_options::overwrite_existing);
  EXPECT_THAT(ErrorOf(path), HasSubstr("another recording"));
}

TEST(ParquetRoundTripTest, TooManyValuesAreRefused) {
  ImportOptions options;
  options.max_unpacked_bytes = 1000;
  EXPECT_EQ(NewParquetImporter()
                ->Import(ExportTo("large", tables::SmallTrace()), options)
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

// Changed bytes give an error or a trace that keeps its own rules.
TEST(ParquetRoundTripTest, NoChangeOfBytesBreaksTheImporter) {
  const std::string events = ExportTo("changed", tables::SmallTrace());
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(
           ::testing::TempDir() + "/changed/parquet")) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::mt19937 random(1);
  int good = 0;
  constexpr int kFiles = 400;
  for (int i = 0; i < kFiles; ++i) {
    const std::string& path =
        i % 2 == 0 ? events : paths[random() % paths.size()];
    const std::string bytes = ReadAll(path);
    std::string changed = bytes;
    for (size_t n = 1 + random() % 3; n > 0; --n) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    WriteAll(path, changed);
    // Without checksums, as they would find nearly all of it.
    const auto files =
        parquet_import::PartFiles::Open(events, parquet::Checksums::kIgnore);
    auto shard = files.ok() ? parquet_import::ReadShard(*files)
                            : absl::StatusOr<model::TraceShard>(files.status());
    if (shard.ok()) {
      std::vector<model::TraceShard> shards;
      shards.push_back(*std::move(shard));
      const auto trace = Normalize(std::move(shards), {});
      ASSERT_TRUE(trace.ok()) << trace.status();
      ASSERT_TRUE(model::ValidateTrace(*trace).ok())
          << model::ValidateTrace(*trace) << " change " << i;
      ++good;
    }
    WriteAll(path, bytes);
  }
  EXPECT_GT(good, 0);
  EXPECT_LT(good, kFiles);
}

}  // namespace
}  // namespace kymo
