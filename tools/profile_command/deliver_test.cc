#include "tools/profile_command/deliver.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/base/op_inputs.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

constexpr char kNothing[] =
    "Nothing was recorded: no annotated range ran, and no sample hit.\n";

// PyTorch's table of two ranges: 8 us with 3 us inside.
constexpr char kRangesTable[] =
    R"(---------  ------------  ------------  ------------  ------------  ------------  ------------  
     Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  
---------  ------------  ------------  ------------  ------------  ------------  ------------  
    outer        62.50%       5.000us       100.00%       8.000us       8.000us             1  
    inner        37.50%       3.000us        37.50%       3.000us       3.000us             1  
---------  ------------  ------------  ------------  ------------  ------------  ------------  
Self CPU time total: 8.000us
)";

constexpr char kSamplesTable[] =
    R"(--------  ------------  ------------  ------------  ------------  -------------  ------------  
    Name    Self CPU %      Self CPU   CPU total %     CPU total  Samples total  Module        
--------  ------------  ------------  ------------  ------------  -------------  ------------  
       g        75.00%       3.000us        75.00%       3.000us              1  /bin/app      
    main        25.00%       1.000us       100.00%       4.000us              2  /bin/app      
--------  ------------  ------------  ------------  ------------  -------------  ------------  
Sampled CPU time total: 4.000us
Number of samples: 2
)";

RunTables Make(TestTrace t, const ProfileCommand& command) {
  const model::Trace trace = std::move(t).Build();
  absl::StatusOr<RunTables> tables = MakeTables(trace, command);
  EXPECT_TRUE(tables.ok()) << tables.status();
  return tables.ok() ? *std::move(tables) : RunTables();
}

model::TrackIndex AddRanges(TestTrace& t) {
  t.AddProcess(10, "xz");
  const auto main = t.AddThread(10, 10, "xz");
  t.AddRange(main, "outer", 1'000, 9'000);
  t.AddRange(main, "inner", 2'000, 5'000);
  return main;
}

void AddSamples(TestTrace& t, model::TrackIndex main) {
  t.AddSample(main, 1'500, 1'000, {"main"});
  t.AddSample(main, 2'500, 3'000, {"main", "g"});
}

TEST(MakeTablesTest, EachKindOfRecordsHasItsTable) {
  EXPECT_EQ(Make(TestTrace(), {}).text, kNothing);
  TestTrace ranges;
  AddRanges(ranges);
  EXPECT_EQ(Make(std::move(ranges), {}).text, kRangesTable);
  TestTrace samples;
  AddSamples(samples, samples.AddThread(10, 10, "xz"));
  samples.SetWindow(0, 9'000);
  EXPECT_EQ(Make(std::move(samples), {}).text, kSamplesTable);
}

TEST(MakeTablesTest, WithCountersAloneItSaysWhereTheyAre) {
  for (const int values : {1, 2}) {
    TestTrace t;
    const auto main = t.AddThread(10, 10, "xz");
    for (int i = 0; i < values; ++i) t.AddCounter(main, "queue", 5 + i, 1);
    EXPECT_EQ(Make(std::move(t), {}).text,
              std::string("No table: no annotated range ran, and no sample "
                          "hit. ") +
                  (values == 1 ? "1 value of a counter was"
                               : "2 values of counters were") +
                  " recorded: summary.json has the least, the mean and the "
                  "greatest of each counter, and timelines show the values.\n");
  }
}

TEST(MakeTablesTest, TablesStandApartAndLossesBelow) {
  TestTrace t;
  const auto main = AddRanges(t);
  AddSamples(t, main);
  t.data().allocation_counts = {{main, 10, 8, 2'048}};
  t.data().ledger.Add(model::Loss::kEventsDroppedArenaFull, 7);
  const RunTables tables = Make(std::move(t), {.profile_memory = true});
  const std::string memory =
      "Memory of xz (process 10), heap\n"
      "  Allocated                   10    2.00 KiB\n"
      "  Freed                        8\n";
  EXPECT_THAT(tables.text, HasSubstr("  CPU Mem  Self CPU Mem  "));
  EXPECT_THAT(tables.text,
              HasSubstr("\nSelf CPU time total: 8.000us\n\n" +
                        std::string(kSamplesTable) + "\n" + memory +
                        "Lost: 7 events_dropped_arena_full ("));
  EXPECT_EQ(tables.screen.memory, memory);
  EXPECT_EQ(tables.screen.allocations, 10);
  EXPECT_TRUE(tables.screen.profile_memory);
  EXPECT_EQ(tables.screen.sort_by, "self_cpu_time_total");
  EXPECT_EQ(tables.screen.use_device, "");
  ASSERT_EQ(tables.screen.ranges.size(), 2u);
  EXPECT_EQ(tables.screen.ranges[0].key, "outer");
  EXPECT_EQ(tables.screen.functions.sample_count, 2);
}

TEST(MakeTablesTest, MemoryIsShownIfItWasAskedFor) {
  TestTrace t;
  t.data().allocation_counts = {{t.AddThread(10, 10, "xz"), 10, 8, 2'048}};
  const RunTables tables = Make(std::move(t), {});
  EXPECT_EQ(tables.text, kNothing);
  EXPECT_EQ(tables.screen.memory, "");
  EXPECT_FALSE(tables.screen.profile_memory);
}

TEST(MakeTablesTest, TheCommandSortsLimitsAndGroups) {
  TestTrace t;
  const auto main = AddRanges(t);
  t.AddRange(main, "inner", 6'000, 7'000);
  AddSamples(t, main);
  const model::Trace trace = std::move(t).Build();
  const auto rows = [&](const ProfileCommand& command) {
    const auto tables = MakeTables(trace, command);
    EXPECT_TRUE(tables.ok()) << tables.status();
    EXPECT_EQ(tables->screen.sort_by, command.sort_by);
    std::vector<std::string> names;
    const std::string& text = tables->text;
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const std::string line = text.substr(at, text.find('\n', at) - at);
      const std::string name =
          line.substr(std::min(line.size(), line.find_first_not_of(' ')));
      if (name != "" && name[0] != '-' && line[0] == ' ' &&
          !name.starts_with("Name")) {
        names.push_back(name.substr(0, name.find(' ')));
      }
    }
    return names;
  };
  EXPECT_THAT(rows({.sort_by = "count"}),
              ElementsAre("inner", "outer", "main", "g"));
  EXPECT_THAT(rows({.sort_by = "cpu_time_total", .row_limit = 1}),
              ElementsAre("outer", "main"));
  // A key that samples do not have.
  EXPECT_THAT(rows({.sort_by = "cpu_time"}),
              ElementsAre("outer", "inner", "g", "main"));
  EXPECT_EQ(MakeTables(trace, {.sort_by = "beauty"}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(MakeTablesTest, WhereADeviceWorkedItsTimeComesFirst) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "slow", 0, 90'000);
  const auto stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "gemm", 1'000, 5'000,
             model::ActivityType::kConcurrentKernel);
  const model::Trace trace = std::move(t).Build();
  const auto tables = MakeTables(trace, {});
  ASSERT_TRUE(tables.ok()) << tables.status();
  EXPECT_EQ(tables->screen.sort_by, "self_device_time_total");
  EXPECT_EQ(tables->screen.use_device, "cuda");
  EXPECT_LT(tables->text.find("gemm"), tables->text.find("slow"));
  EXPECT_THAT(tables->text, HasSubstr("Self CUDA time total: 4.000us\n"));
  EXPECT_EQ(MakeTables(trace, {.sort_by = "count"})->screen.sort_by, "count");
}

TEST(MakeTablesTest, FlopsAreEstimatedIfTheyWereAskedFor) {
  const int64_t sizes[] = {4, 4};
  const Input inputs[] = {TensorMeta{.sizes = sizes},
                          TensorMeta{.sizes = sizes}};
  std::string encoded(EncodedInputBytes(inputs, 2), '\0');
  EncodeInputs(inputs, 2, encoded.data());
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "aten::mm", 0, 5'000);
  t.Describe(0);
  t.data().details.back().inputs = t.Intern(encoded);
  t.AddRange(main, "aten::mul", 6'000, 7'000);
  const model::Trace trace = std::move(t).Build();
  const std::string without = MakeTables(trace, {})->text;
  EXPECT_THAT(without, Not(HasSubstr("FLOPs")));
  EXPECT_THAT(without, Not(HasSubstr("note: ")));
  const std::string with = MakeTables(trace, {.with_flops = true})->text;
  // 2 * 4 * 4 * 4. The other operation has no inputs, which is told.
  EXPECT_THAT(with, HasSubstr("Total FLOPs"));
  EXPECT_THAT(with, HasSubstr(" 128.000  \n"));
  EXPECT_THAT(with, testing::ContainsRegex("\nnote: .*aten::mul"));
}

TEST(MakeTablesTest, MemoryThatWasAskedForAndNotUsedIsTold) {
  const RunTables none = Make(TestTrace(), {.profile_memory = true});
  EXPECT_THAT(none.screen.memory_note, StartsWith("Memory: no allocation "));
  EXPECT_EQ(none.screen.memory, "");  // it is no table
  EXPECT_EQ(none.text, kNothing + ("\n" + none.screen.memory_note + "\n"));
  TestTrace t;
  AddSamples(t, AddRanges(t));
  const RunTables some = Make(std::move(t), {.profile_memory = true});
  EXPECT_THAT(some.text, HasSubstr("\n\n" + none.screen.memory_note));
}

// PyTorch's rows of reports: the report on memory says it better.
TEST(MakeTablesTest, ScreensHaveNoRowOfReports) {
  TestTrace t;
  const auto main = AddRanges(t);
  t.data().memory = {{.track = main, .time_ns = 9'500, .bytes = 64}};
  t.SetWindow(0, 10'000);
  const RunTables tables = Make(std::move(t), {.profile_memory = true});
  EXPECT_THAT(tables.text, HasSubstr("[memory]"));
  EXPECT_EQ(tables.screen.ranges.size(), 2u);
  EXPECT_EQ(tables.screen.allocations, 0);
}

// `count` heaps, each with an allocation; the last has the largest.
TestTrace Heaps(int count) {
  TestTrace t;
  for (int i = 1; i <= count; ++i) {
    t.AddProcess(i, "p");
    t.data().memory.push_back({.track = t.AddThread(i, i, "p"),
                               .source = model::MemorySource::kHeap,
                               .time_ns = 1'000,
                               .address = 16,
                               .bytes = 1024 * i,
                               .total_allocated = 1024 * i});
  }
  t.SetWindow(0, 2'000);
  return t;
}

TEST(MakeTablesTest, ScreensBeginWithTheLargestHeap) {
  const RunTables one = Make(Heaps(1), {.profile_memory = true});
  EXPECT_THAT(one.text, testing::EndsWith("\n\n" + one.screen.memory));
  const RunTables ten = Make(Heaps(10), {.profile_memory = true});
  EXPECT_THAT(ten.screen.memory,
              StartsWith("Memory of 10 heaps and the like: 10 allocations of "
                         "55.0 KiB. The one with the largest peak comes "
                         "first.\n\nMemory of p (process 10), heap\n"));
  EXPECT_THAT(ten.text, HasSubstr("\n\nMemory of p (process 1), heap\n"));
}

TEST(MakeTablesTest, ScreensShowTheTenLargestHeaps) {
  const RunTables tables = Make(Heaps(12), {.profile_memory = true});
  EXPECT_EQ(tables.screen.allocations, 12);
  // 1 + ... + 12 = 78.
  EXPECT_THAT(tables.screen.memory,
              StartsWith("Memory of 12 heaps and the like: 12 allocations of "
                         "78.0 KiB. The 10 with the largest peaks follow; "
                         "key_averages.txt has all.\n\n"
                         "Memory of p (process 12), heap\n"));
  EXPECT_THAT(tables.screen.memory, HasSubstr("(process 3)"));
  EXPECT_THAT(tables.screen.memory, Not(HasSubstr("(process 2)")));
  EXPECT_LT(tables.screen.memory.find("(process 4)"),
            tables.screen.memory.find("(process 3)"));
  EXPECT_THAT(tables.text, HasSubstr("\n\nMemory of p (process 1), heap\n"));
  EXPECT_THAT(tables.text, HasSubstr("(process 12)"));
}

// Writes its options into NAME.txt; an error if it is called bad.
class FakeExporter : public TraceExporter {
 public:
  explicit FakeExporter(const std::string& name) {
    info_.name = name;
    info_.exports_sums = name != "plain";
    info_.takes_max_bytes = true;
    info_.splits_by_step = name == "plain";
  }
  const PluginInfo& info() const noexcept override { return info_; }
  absl::StatusOr<std::vector<std::string>> Export(
      const model::Trace&, const ExportOptions& options,
      OutputDirectory& out) const override {
    if (info_.name == "bad") return absl::DataLossError("it is bad");
    if (options.progress) options.progress(0.5);
    options.notes->ledger.Add(model::Loss::kStacksFolded, 1);
    return Write(options, out);
  }
  absl::StatusOr<std::vector<std::string>> ExportSums(
      const analysis::WindowSums&, const ExportOptions& options,
      OutputDirectory& out) const override {
    if (info_.name == "bad") return absl::DataLossError("it is bad");
    return Write(options, out);
  }

 private:
  absl::StatusOr<std::vector<std::string>> Write(const ExportOptions& options,
                                                 OutputDirectory& out) const {
    std::string text = options.gzip ? "gzip " : "";
    text += std::to_string(options.max_bytes);
    for (const auto& [name, value] : options.settings) text += " " + value;
    auto sink = out.Open(info_.name + ".txt");
    EXPECT_TRUE((*sink)->Append(text).ok() && (*sink)->Commit().ok());
    return std::vector<std::string>{info_.name + ".txt"};
  }

  PluginInfo info_;
};

class WriteFilesTest : public testing::Test {
 protected:
  WriteFilesTest() {
    for (const char* const name : {"bad", "plain", "sums", "summary"}) {
      EXPECT_TRUE(
          exporters_.Register(std::make_unique<FakeExporter>(name)).ok());
    }
  }

  absl::Status Write(const ProfileCommand& command) {
    ProgressLine progress(false);
    out_.files().clear();
    return WriteFiles(
        TestTrace().Build(), [] { return "tables\n"; }, command, exporters_,
        out_, progress, notes_);
  }

  ExporterRegistry exporters_;
  MemoryDirectory out_;
  ExportNotes notes_;
};

TEST(RunMetadataTest, ARankThatALauncherStartedIsSaid) {
  ProfileCommand command;
  command.target = {"train", "--fast"};
  EXPECT_THAT(RunMetadata(command, "cuda"),
              ElementsAre(Pair("kymo_command", "\"train --fast\"")));
  ASSERT_EQ(setenv("RANK", "3", 1), 0);
  ASSERT_EQ(setenv("WORLD_SIZE", "8", 1), 0);
  EXPECT_THAT(RunMetadata(command, ""),
              ElementsAre(Pair("kymo_command", "\"train --fast\""),
                          Pair("distributedInfo", HasSubstr("\"rank\": 3"))));
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");
}

TEST_F(WriteFilesTest, TheSummaryIsAlwaysWrittenOnce) {
  EXPECT_TRUE(Write({}).ok());
  EXPECT_EQ(notes_.ledger.Get(model::Loss::kStacksFolded), 1u);
  EXPECT_THAT(out_.files(), ElementsAre(Pair("key_averages.txt", testing::_),
                                        Pair("summary.txt", "0")));
  EXPECT_TRUE(Write({.exporters = {"summary", "plain"}}).ok());
  EXPECT_EQ(notes_.ledger.Get(model::Loss::kStacksFolded), 3u);
}

TEST_F(WriteFilesTest, ExportersGetTheCommandsOptions) {
  EXPECT_TRUE(Write({.exporters = {"plain"},
                     .gzip = true,
                     .max_size = 100,
                     .settings = {{"color", "red"}}})
                  .ok());
  EXPECT_EQ(out_.files()["plain.txt"], "gzip 50 red");
  EXPECT_EQ(out_.files()["summary.txt"], "gzip 50 red");
  // A timeline that is split is not bounded.
  EXPECT_TRUE(
      Write(
          {.exporters = {"plain"}, .max_size = 100, .max_file_bytes = 1 << 20})
          .ok());
  EXPECT_EQ(out_.files()["plain.txt"], "0");
}

TEST_F(WriteFilesTest, WhatTheFilesLackIsInTheTables) {
  EXPECT_TRUE(Write({.exporters = {"plain"}}).ok());
  EXPECT_THAT(out_.files()["key_averages.txt"],
              StartsWith("tables\nNote: 2 stacks_folded ("));
}

TEST_F(WriteFilesTest, GoesOnAfterAFailure) {
  EXPECT_EQ(Write({.exporters = {"plain", "bad"}}).message(), "it is bad");
  EXPECT_THAT(out_.files(),
              ElementsAre(Pair("key_averages.txt", testing::_),
                          Pair("plain.txt", "0"), Pair("summary.txt", "0")));
}

TEST_F(WriteFilesTest, SumsAreForThoseThatTakeThem) {
  EXPECT_EQ(ExportSums(analysis::WindowSums(),
                       {.exporters = {"plain", "bad", "sums"},
                        .gzip = true,
                        .max_size = 100,
                        .settings = {{"color", "red"}}},
                       exporters_, out_, notes_)
                .message(),
            "it is bad");
  EXPECT_THAT(out_.files(), ElementsAre(Pair("summary.txt", "gzip 25 red"),
                                        Pair("sums.txt", "gzip 25 red")));
}

}  // namespace
}  // namespace kymo::tools
