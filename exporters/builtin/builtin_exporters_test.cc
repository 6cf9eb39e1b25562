#include "exporters/builtin/builtin_exporters.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/analysis/averages/window_sums.h"
#include "profiler/base/parallel.h"
#include "profiler/plugin/run_exporter.h"
#include "tests/support/test_full_disk.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

TEST(BuiltinExportersTest, ListsThemByName) {
  ExporterRegistry registry;
  ASSERT_TRUE(RegisterBuiltinExporters(registry).ok());
  EXPECT_EQ(
      registry.Names(),
      "chrome, html, memory_timeline, parquet, perfetto, stacks, summary, "
      "tensorboard");
  EXPECT_EQ(RegisterBuiltinExporters(registry).code(),
            absl::StatusCode::kAlreadyExists);
}

std::vector<std::string> BuiltinNames() {
  ExporterRegistry registry;
  EXPECT_TRUE(RegisterBuiltinExporters(registry).ok());
  std::vector<std::string> names;
  for (const TraceExporter* exporter : registry.List()) {
    names.push_back(exporter->info().name);
  }
  return names;
}

// Says which files differ, and where.
void ExpectSame(const Exported& got, const Exported& expected) {
  EXPECT_EQ(got.size(), expected.size());
  for (const auto& [name, bytes] : expected) {
    const auto it = got.find(name);
    ASSERT_TRUE(it != got.end()) << name << " is missing";
    const auto a = std::ranges::mismatch(it->second, bytes).in1;
    EXPECT_TRUE(it->second == bytes)
        << name << " has " << it->second.size() << " bytes, not "
        << bytes.size() << "; they differ from byte " << a - it->second.begin();
  }
}

// Ranges, steps, operations, samples, counters and memory with stacks.
model::Trace MakeFullTrace() {
  TestTrace t;
  t.AddProcess(1, "app");
  for (const int tid : {1, 2}) {
    const auto track = t.AddThread(1, tid, "worker");
    for (int i = 0; i < 2'000; ++i) {
      const TimeNs start = 100 * i;
      if (i % 100 == 0) {
        t.AddAnnotation(track, "ProfilerStep#" + std::to_string(i / 100), start,
                        start + 9'990);
      }
      t.AddRange(track, "operation " + std::to_string(i % 7), start,
                 start + 50);
      if (i % 3 == 0) t.Describe(static_cast<uint64_t>(i) + 1);
      t.AddRange(track, "inner", start + 10, start + 20);
    }
    t.AddSample(track, 5, 1'000, {"main()", "f()"});
    t.AddSample(track, 1'005, 1'000, {"main()", "g()"});
    t.AddCounter(track, "queue", 7, 0.5);
    for (int i = 0; i < 200; ++i) {
      t.data().memory.push_back({.track = track,
                                 .source = model::MemorySource::kHeap,
                                 .time_ns = 10 * i,
                                 .address = 64,
                                 .bytes = i % 2 == 0 ? 1'000 : -1'000,
                                 .total_allocated = i % 2 == 0 ? 1'000 : 0,
                                 .stack = t.data().samples.back().stack});
    }
  }
  return std::move(t).Build();
}

// Every exporter passes these tests, whatever its format.
class ExporterConformanceTest : public ::testing::TestWithParam<std::string> {
 protected:
  ExporterConformanceTest() {
    EXPECT_TRUE(RegisterBuiltinExporters(registry_).ok());
  }
  const TraceExporter& exporter() const { return *registry_.Find(GetParam()); }

  ExporterRegistry registry_;
};

TEST_P(ExporterConformanceTest, SaysWhatItIs) {
  EXPECT_EQ(exporter().info().name, GetParam());
  EXPECT_FALSE(exporter().info().purpose.empty());
}

// Files whose names depend on the trace are in folders.
TEST_P(ExporterConformanceTest, TellsTheNamesOfItsFiles) {
  const std::vector<std::string>& told = exporter().info().files;
  for (const bool gzip : {false, true}) {
    ExportOptions options;
    options.gzip = gzip;
    for (const auto& [name, text] :
         Export(exporter(), MakeFullTrace(), options)) {
      const bool is_in_folder = name.find('/') != std::string::npos;
      EXPECT_TRUE(is_in_folder || std::ranges::count(told, name) == 1) << name;
    }
  }
}

TEST_P(ExporterConformanceTest, EmptyTraceGivesFiles) {
  EXPECT_FALSE(Export(exporter(), TestTrace().Build()).empty());
}

TEST_P(ExporterConformanceTest, OddTraceGivesTheSameBytesTwice) {
  TestTrace t;
  t.AddProcess(1, std::string_view("\0\xFF;\n", 4));
  const auto main = t.AddThread(1, 1, "");
  t.AddRange(main, "", 0, 0);
  t.AddRange(main, std::string(100'000, 'x'), 0, 10);
  t.AddInstant(main, "\xC3", 5);
  t.AddSample(main, 5, 1, {"", "\xFF"}, "");
  t.AddSample(main, 5, -1, {});
  t.AddCounter(main, "", 5, 1.0 / 0.0);
  t.data().memory.push_back({.track = main,
                             .device_type = 99,
                             .device_index = 7,
                             .time_ns = -5,
                             .address = ~uint64_t{0},
                             .bytes = -(int64_t{1} << 50),
                             .total_allocated = -1});
  for (int i = 0; i < static_cast<int>(model::Loss::kCount); ++i) {
    t.data().ledger.Add(static_cast<model::Loss>(i), ~uint64_t{0});
  }
  const model::Trace trace = std::move(t).Build();
  const Exported files = Export(exporter(), trace);
  ExpectSame(Export(exporter(), trace), files);
  for (const auto& [name, text] : files) {
    if (name.ends_with(".json")) ParseJson(text);
  }
}

TEST_P(ExporterConformanceTest, AFullDiskLeavesNoFileAndSaysSo) {
  const model::Trace trace = MakeFullTrace();
  size_t needed = 0;
  const Exported files = Export(exporter(), trace);
  for (const auto& [name, text] : files) needed += text.size();
  for (const FullAt full_at : {FullAt::kAppend, FullAt::kCommit}) {
    for (size_t i = 0; i <= 20; ++i) {
      FullDirectory out((needed - 1) * i / 20, full_at);
      const auto names = exporter().Export(trace, {}, out);
      EXPECT_EQ(names.status().code(), absl::StatusCode::kResourceExhausted);
      EXPECT_TRUE(out.committed().empty()) << *out.committed().begin();
    }
    FullDirectory out(needed, full_at);
    EXPECT_TRUE(exporter().Export(trace, {}, out).ok());
    EXPECT_EQ(out.committed().size(), files.size());
  }
}

TEST_P(ExporterConformanceTest, MemoryThatEndsLeavesNoFileAndSaysSo) {
  const model::Trace trace = MakeFullTrace();
  size_t needed = 0;
  for (const auto& [name, text] : Export(exporter(), trace)) {
    needed += text.size();
  }
  for (size_t i = 0; i <= 20; ++i) {
    FullDirectory out((needed - 1) * i / 20, FullAt::kNoMemory);
    const absl::Status status =
        RunExporter(exporter(), trace, {}, /*max_file_bytes=*/0, out).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(status.message().find("not enough memory to write '") == 0)
        << status;
    EXPECT_TRUE(out.committed().empty()) << *out.committed().begin();
  }
}

TEST_P(ExporterConformanceTest, TakesSumsIfItSaysSo) {
  analysis::WindowSums sums;
  sums.Add(MakeFullTrace(), /*is_last=*/true);
  FullDirectory out(1'000'000, FullAt::kAppend);
  const auto names = RunExporterOnSums(exporter(), sums, {}, out);
  if (!exporter().info().exports_sums) {
    EXPECT_EQ(names.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_EQ(exporter().BeyondSums({}), std::string("--export=") + GetParam());
    return;
  }
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(exporter().BeyondSums({}), "");
  EXPECT_EQ(std::set<std::string>(names->begin(), names->end()),
            out.committed());
  FullDirectory none(0, FullAt::kNoMemory);
  EXPECT_EQ(RunExporterOnSums(exporter(), sums, {}, none).status().message(),
            "not enough memory to write '" + names->front() + "'");
  EXPECT_TRUE(none.committed().empty());
}

TEST_P(ExporterConformanceTest, ProgressGrowsToOne) {
  std::vector<double> progress;
  ExportOptions options;
  options.progress = [&](double done) { progress.push_back(done); };
  Export(exporter(), MakeFullTrace(), options);
  ASSERT_FALSE(progress.empty());
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  EXPECT_EQ(progress.back(), 1.0);
}

TEST_P(ExporterConformanceTest, ThreadsDoNotChangeTheBytes) {
  const model::Trace trace = MakeFullTrace();
  const auto export_with = [&](int threads) {
    const ParallelismLimit limit(threads);
    return Export(exporter(), trace);
  };
  const Exported one = export_with(1);
  ExpectSame(export_with(2), one);
  ExpectSame(export_with(5), one);
}

TEST_P(ExporterConformanceTest, UnwritableFolderIsAnError) {
  OutputDirectory out("/proc/self/nowhere");
  EXPECT_FALSE(exporter().Export(TestTrace().Build(), {}, out).ok());
}

INSTANTIATE_TEST_SUITE_P(Builtin, ExporterConformanceTest,
                         ::testing::ValuesIn(BuiltinNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kymo
