#include "exporters/stacks/stacks_exporter.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/timeline/test_whole_trace.h"
#include "profiler/analysis/averages/window_sums.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Exported Stacks(const model::Trace& trace, ExportOptions options = {}) {
  options.settings.try_emplace("stacks_formats", "folded");
  return Export(*NewStacksExporter(), trace, options);
}

TestTrace WithThread(std::string_view process = "xz") {
  TestTrace t;
  t.AddProcess(1, process);
  t.AddThread(1, 2, "worker");
  return t;
}

TEST(StacksExporterTest, EqualStacksBecomeOneLine) {
  TestTrace t = WithThread();
  t.AddSample(0, 1, 100, {"main", "encode", "crc"});
  t.AddSample(0, 2, 50, {"main"});
  t.AddSample(0, 3, 25, {"main", "encode", "crc"});
  EXPECT_THAT(Stacks(std::move(t).Build()),
              ElementsAre(Pair("stacks.folded",
                               "xz;main 50\n"
                               "xz;main;encode;crc 125\n")));
}

TEST(StacksExporterTest, SamplesThatAreAddedUpCount) {
  const auto text = [](ExportOptions options) {
    TestTrace t = WithThread();
    t.AddSample(0, 1, 100, {"main", "encode", "crc"});
    t.AddSample(0, 2, 50, {"main", "encode", "crc"});
    t.AddUpSamples();
    t.AddSample(0, 3, 25, {"main", "encode", "crc"});
    return Stacks(std::move(t).Build(), std::move(options));
  };
  EXPECT_THAT(text({}),
              ElementsAre(Pair("stacks.folded", "xz;main;encode;crc 175\n")));
  EXPECT_THAT(text({.settings = {{"stacks_metric", "count"}}}),
              ElementsAre(Pair("stacks.folded", "xz;main;encode;crc 3\n")));
}

TEST(StacksExporterTest, ControlCharactersOfNamesBecomeSpaces) {
  TestTrace t = WithThread();
  t.AddSample(0, 1, 100, {"a\x1b[2J", "b\u009b1m", "c\a;\nd"});
  EXPECT_THAT(Stacks(std::move(t).Build()),
              ElementsAre(Pair("stacks.folded", "xz;a [2J;b  1m;c : d 100\n")));
}

TEST(StacksExporterTest, RangesFoldByPathWithSelfTime) {
  TestTrace t = WithThread();
  t.AddRange(0, "forward", 0, 100);
  t.AddRange(0, "matmul", 10, 40);
  t.AddRange(0, "matmul", 50, 60);
  t.AddRange(0, "matmul", 200, 205);
  t.AddInstant(0, "tick", 300);
  EXPECT_THAT(Stacks(std::move(t).Build()),
              ElementsAre(Pair("stacks.folded",
                               "xz;forward 60\n"
                               "xz;forward;matmul 40\n"
                               "xz;matmul 5\n")));
}

TEST(StacksExporterTest, BothGiveTwoFiles) {
  TestTrace t = WithThread();
  t.AddRange(0, "forward", 0, 100);
  t.AddSample(0, 1, 7, {"main"});
  EXPECT_THAT(Stacks(std::move(t).Build()),
              ElementsAre(Pair("stacks.folded", "xz;main 7\n"),
                          Pair("stacks.ranges.folded", "xz;forward 100\n")));
}

// 20 ns on a CPU, a lock of 30 ns, two short ones of 7 ns, and an idle wait.
TestTrace WithWaits() {
  TestTrace t = WithThread();
  t.AddSample(0, 1, 20, {"main", "f"});
  t.AddWait(
      {.kind = model::WaitKind::kLock, .begin_ns = 100, .duration_ns = 30},
      {"main", "f"});
  t.AddWait(
      {.kind = model::WaitKind::kPoll, .begin_ns = 200, .duration_ns = 50},
      {"main"});
  t.AddShortWaits(
      {.kind = model::WaitKind::kLock, .count = 2, .duration_ns = 7},
      {"main", "f"});
  return t;
}

TEST(StacksExporterTest, WaitsHaveTheirOwnStacksAndThoseOfWallTime) {
  EXPECT_THAT(Stacks(WithWaits().Build()),
              ElementsAre(Pair("stacks.folded", "xz;main;f 20\n"),
                          Pair("stacks.off_cpu.folded",
                               "xz;main;[poll wait, idle] 50\n"
                               "xz;main;f;[lock wait] 37\n"),
                          Pair("stacks.wall.folded",
                               "xz;main;[poll wait, idle] 50\n"
                               "xz;main;f 20\n"
                               "xz;main;f;[lock wait] 37\n")));
}

// What the file of samples leaves out for its size is there for the next one.
// The first file leaves 39 of its 70 bytes to the others: the second takes 84.
TEST(StacksExporterTest, WallTimeHasWhatTheFileOfSamplesLeavesOut) {
  TestTrace t = WithWaits();
  t.AddSample(0, 10, 2, {"main", "a name that is longer than the other ones"});
  t.AddSample(0, 20, 1, {"main", "rare"});
  t.AddWait(
      {.kind = model::WaitKind::kLock, .begin_ns = 300, .duration_ns = 1'000},
      {"main", "rare"});
  ExportOptions options;
  options.max_bytes = 2 * 3 * 70;
  EXPECT_THAT(Stacks(std::move(t).Build(), options),
              ElementsAre(Pair("stacks.folded",
                               "xz;main;[other] 3\n"
                               "xz;main;f 20\n"),
                          Pair("stacks.off_cpu.folded",
                               "xz;main;[poll wait, idle] 50\n"
                               "xz;main;f;[lock wait] 37\n"
                               "xz;main;rare;[lock wait] 1000\n"),
                          Pair("stacks.wall.folded",
                               "xz;main;[other] 109\n"
                               "xz;main;rare 1\n"
                               "xz;main;rare;[lock wait] 1000\n")));
}

TEST(StacksExporterTest, WaitsAndSamplesHaveNoCommonCount) {
  ExportOptions options;
  options.settings["stacks_metric"] = "count";
  EXPECT_THAT(Stacks(WithWaits().Build(), options),
              ElementsAre(Pair("stacks.folded", "xz;main;f 1\n"),
                          Pair("stacks.off_cpu.folded",
                               "xz;main;[poll wait, idle] 1\n"
                               "xz;main;f;[lock wait] 3\n")));
}

TEST(StacksExporterTest, EmptyTraceGivesAnEmptyFile) {
  EXPECT_THAT(Stacks(TestTrace().Build()),
              ElementsAre(Pair("stacks.folded", "")));
}

TEST(StacksExporterTest, OddNamesStayOneFrameEach) {
  TestTrace t = WithThread("a;b");
  t.AddSample(0, 1, 1, {"f;g", "x\ty\nz \r", "", "operator<(int, λ)"});
  t.AddSample(0, 2, 0, {"weighs nothing"});
  t.AddSample(0, 3, 2, {});
  EXPECT_THAT(
      Stacks(std::move(t).Build()),
      ElementsAre(Pair("stacks.folded",
                       "a:b 2\n"
                       "a:b;f:g;x y z;[unknown];operator<(int, λ) 1\n")));
}

TEST(StacksExporterTest, ThreadsAreAFrameOnRequest) {
  TestTrace t = WithThread();
  t.AddSample(0, 1, 1, {"main"});
  const model::Trace trace = std::move(t).Build();
  ExportOptions options;
  options.settings["stacks_threads"] = "1";
  EXPECT_THAT(
      Stacks(trace, options),
      ElementsAre(Pair("stacks.folded", "xz;thread 2 (worker);main 1\n")));
}

TEST(StacksExporterTest, CountsInPlaceOfTimeOnRequest) {
  TestTrace t = WithThread();
  t.AddRange(0, "forward", 0, 100);
  t.AddRange(0, "matmul", 10, 40);
  t.AddRange(0, "matmul", 50, 60);
  t.AddSample(0, 1, 700, {"main"});
  t.AddSample(0, 2, 700, {"main"});
  ExportOptions options;
  options.settings["stacks_metric"] = "count";
  EXPECT_THAT(Stacks(std::move(t).Build(), options),
              ElementsAre(Pair("stacks.folded", "xz;main 2\n"),
                          Pair("stacks.ranges.folded",
                               "xz;forward 1\nxz;forward;matmul 2\n")));
}

TEST(StacksExporterTest, SumsAreFoldedStacksOfSelfTime) {
  TestTrace t = WithThread("a;b");
  t.AddRange(0, "forward", 0, 100);
  t.AddRange(0, "matmul", 10, 40);
  t.AddRange(0, "idle", 200, 200);
  analysis::WindowSums sums;
  sums.Add(std::move(t).Build(), /*is_last=*/true);
  const auto exporter = NewStacksExporter();
  EXPECT_TRUE(exporter->info().exports_sums);
  MemoryDirectory out;
  const auto names = exporter->ExportSums(sums, {}, out);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_THAT(*names, ElementsAre("stacks.folded"));
  EXPECT_THAT(out.files(), ElementsAre(Pair("stacks.folded",
                                            "a:b;forward 70\n"
                                            "a:b;forward;matmul 30\n")));
}

TEST(StacksExporterTest, RangesThatAreInTheSumsCountOnce) {
  TestTrace t = WithThread("a");
  t.AddRange(0, "forward", 0, 100);
  t.AddSample(0, 10, 7, {"main"});
  const model::Trace newest = std::move(t).Build();
  analysis::WindowSums sums;
  sums.AddEvents(newest);
  sums.SetNewest(newest);
  MemoryDirectory out;
  ASSERT_TRUE(NewStacksExporter()->ExportSums(sums, {}, out).ok());
  EXPECT_EQ(out.files().at("stacks.ranges.folded"), "a;forward 100\n");
}

TEST(StacksExporterTest, SamplesBesideSumsHaveTheirFiles) {
  TestTrace t = WithThread("a");
  t.AddRange(0, "forward", 0, 100);
  analysis::WindowSums sums;
  sums.Add(std::move(t).Build(), /*is_last=*/true);
  TestTrace samples = WithThread("a");
  samples.AddSample(0, 10, 7, {"main", "f"});
  const model::Trace rest = std::move(samples).Build();
  sums.SetRest(rest);
  MemoryDirectory out;
  const auto names = NewStacksExporter()->ExportSums(sums, {}, out);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_THAT(*names, ::testing::UnorderedElementsAre(
                          "stacks.folded", "stacks.ranges.folded",
                          "stacks.pb.gz", "stacks.speedscope.json"));
  EXPECT_EQ(out.files()["stacks.folded"], "a;main;f 7\n");
  EXPECT_EQ(out.files()["stacks.ranges.folded"], "a;forward 100\n");
}

TEST(StacksExporterTest, SaysWhatSumsDoNotHave) {
  const auto exporter = NewStacksExporter();
  const auto beyond = [&](const std::string& name, const std::string& value) {
    ExportOptions options;
    options.settings[name] = value;
    return exporter->BeyondSums(options);
  };
  EXPECT_EQ(exporter->BeyondSums({}), "");
  EXPECT_EQ(beyond("stacks_formats", "folded"), "");
  EXPECT_EQ(beyond("stacks_formats", "folded,pprof"),
            "--stacks_formats=folded,pprof");
  EXPECT_EQ(beyond("stacks_metric", "weight"), "");
  EXPECT_EQ(beyond("stacks_metric", "count"), "--stacks_metric=count");
  EXPECT_EQ(beyond("stacks_threads", "0"), "");
  EXPECT_EQ(beyond("stacks_threads", "1"), "--stacks_threads=1");
}

std::vector<std::string> FileNames(const ExportOptions& options) {
  TestTrace t = WithThread();
  t.AddRange(0, "forward", 0, 100);
  std::vector<std::string> names;
  const model::Trace trace = std::move(t).Build();
  for (const auto& [name, text] :
       Export(*NewStacksExporter(), trace, options)) {
    names.push_back(name);
  }
  return names;
}

TEST(StacksExporterTest, FormatsAreChosen) {
  ExportOptions options;
  EXPECT_THAT(FileNames(options), ElementsAre("stacks.folded", "stacks.pb.gz",
                                              "stacks.speedscope.json"));
  options.settings["stacks_formats"] = "pprof,speedscope";
  options.gzip = true;
  EXPECT_THAT(FileNames(options),
              ElementsAre("stacks.pb.gz", "stacks.speedscope.json.gz"));
}

TEST(StacksExporterTest, SettingsThatAreNoneAreErrors) {
  const model::Trace trace = TestTrace().Build();
  for (const auto& [name, value] :
       {std::pair<const char*, const char*>("stacks_formats", "svg"),
        std::pair<const char*, const char*>("stacks_formats", ""),
        std::pair<const char*, const char*>("stacks_metric", "ns"),
        std::pair<const char*, const char*>("stacks_threads", "perhaps")}) {
    ExportOptions options;
    options.settings[name] = value;
    MemoryDirectory out;
    const auto status =
        NewStacksExporter()->Export(trace, options, out).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(out.files(), testing::IsEmpty());
  }
}

TEST(StacksExporterTest, ProgressRisesToOne) {
  TestTrace t = WithThread();
  t.AddRange(0, "forward", 0, 100);
  const model::Trace trace = std::move(t).Build();
  std::vector<double> done;
  ExportOptions options;
  options.progress = [&](double part) { done.push_back(part); };
  Export(*NewStacksExporter(), trace, options);
  ASSERT_GE(done.size(), 3u);
  EXPECT_EQ(done[0], 0.3);
  EXPECT_EQ(done[1], 0.6);
  EXPECT_EQ(done.back(), 1);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  done.clear();
  Stacks(trace, options);
  EXPECT_THAT(done, ElementsAre(0.3, 1));
}

TEST(StacksExporterTest, NumbersThatAreNoneAreErrors) {
  const model::Trace trace = TestTrace().Build();
  const auto is_read = [&](const char* name, const char* value) {
    ExportOptions options;
    options.settings[name] = value;
    MemoryDirectory out;
    return NewStacksExporter()->Export(trace, options, out).ok();
  };
  EXPECT_TRUE(is_read("stacks_max_frames", "0"));
  EXPECT_TRUE(is_read("stacks_max_frames", "1073741824"));
  EXPECT_FALSE(is_read("stacks_max_frames", "-1"));
  EXPECT_FALSE(is_read("stacks_max_frames", "1073741825"));
  EXPECT_TRUE(is_read("stacks_min_share", "0"));
  EXPECT_TRUE(is_read("stacks_min_share", "1"));
  EXPECT_FALSE(is_read("stacks_min_share", "-0.001"));
  EXPECT_FALSE(is_read("stacks_min_share", "1.001"));
}

TEST(StacksExporterTest, ThreadsOfOneProcessMerge) {
  TestTrace t = WithThread();
  t.AddRange(0, "f", 0, 10);
  t.AddThread(1, 3, "other");
  t.AddRange(1, "f", 0, 5);
  EXPECT_THAT(Stacks(std::move(t).Build()),
              ElementsAre(Pair("stacks.folded", "xz;f 15\n")));
}

// Ranges, samples and memory, in folded stacks and for Speedscope.
TEST(StacksExporterTest, GoldenWhole) {
  std::string text;
  for (const auto& [formats, metric, threads] :
       {std::tuple("folded,speedscope", "weight", "0"),
        std::tuple("folded", "count", "1")}) {
    ExportOptions options;
    options.settings["stacks_formats"] = formats;
    options.settings["stacks_metric"] = metric;
    options.settings["stacks_threads"] = threads;
    for (const auto& [name, file] : Stacks(WholeTrace(), options)) {
      text += "== " + name + ", " + metric + "\n" + file;
    }
  }
  ExpectGolden(text, "exporters/stacks/testdata/whole.golden.txt");
}

}  // namespace
}  // namespace kymo
