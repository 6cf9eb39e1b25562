#include "exporters/tensorboard/tensorboard_exporter.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/tensorboard/test_xspace.h"
#include "exporters/timeline/test_whole_trace.h"
#include "profiler/base/parallel.h"
#include "tests/support/test_event_file.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

namespace schema = tensorboard::schema;
using tensorboard::ReadEventFile;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr TimeNs kStart = 1'735'632'360 * kNsPerSecond + 123'456'789;

model::Trace MakeTrace(int ranges) {
  TestTrace t;
  t.AddProcess(4'242, "app");
  t.SetWindow(kStart, kStart + 2'000 * int64_t{ranges} + 1'000);
  for (const int64_t tid : {4'242, 4'243, 4'244}) {
    const auto track = t.AddThread(4'242, tid, "worker");
    t.AddAnnotation(track, "ProfilerStep#7", kStart,
                    kStart + 2'000 * int64_t{ranges});
    for (int i = 0; i < ranges; ++i) {
      const TimeNs at = kStart + 2'000 * int64_t{i};
      t.AddRange(track, "op" + std::to_string(i % 50), at, at + 1'500);
      t.AddRange(track, "inner", at + 10, at + 500);
    }
    for (int i = 0; i < ranges; ++i) {
      t.data().memory.push_back({.track = track,
                                 .source = model::MemorySource::kHeap,
                                 .time_ns = kStart + 2'000 * int64_t{i} + 600,
                                 .address = 64,
                                 .bytes = 32,
                                 .total_allocated = 32 * (i + 1)});
    }
  }
  return std::move(t).Build();
}

TEST(TensorboardExporterTest, FilesAreWhereTensorBoardLooks) {
  const model::Trace trace = MakeTrace(3);
  std::vector<std::string> names;
  for (const auto& [name, text] : Export(*NewTensorboardExporter(), trace)) {
    names.push_back(name);
  }
  EXPECT_THAT(
      names,
      testing::ElementsAre(
          MatchesRegex(R"(tensorboard/events\.out\.tfevents\.1735632360\..+)"
                       R"(\.4242\.0)"),
          MatchesRegex("tensorboard/plugins/profile/2024_12_31_08_06_00_123/"
                       R"([^/]+\.xplane\.pb)")));
}

TEST(TensorboardExporterTest, TheEventFileHasGraphTimesAndScalars) {
  const model::Trace trace = MakeTrace(3);
  const Exported files = Export(*NewTensorboardExporter(), trace);
  const auto events = ReadEventFile(files.begin()->second);
  ASSERT_GE(events.size(), 4);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_NEAR(events[0].wall_time(), 1'735'632'360.123, 0.001);
  tensorboard::schema::GraphDef graph;
  ASSERT_TRUE(graph.ParseFromString(events[1].graph_def()));
  EXPECT_GT(graph.node_size(), 3);
  EXPECT_EQ(events[2].tagged_run_metadata().tag(), "profile");
  std::map<std::string, float> scalars;
  for (size_t i = 3; i < events.size(); ++i) {
    EXPECT_EQ(events[i].step(), 7);
    const auto& value = events[i].summary().value(0);
    scalars[value.tag()] = value.simple_value();
  }
  EXPECT_FLOAT_EQ(scalars.at("steps/time_ms"), 0.006);
  EXPECT_FLOAT_EQ(scalars.at("operator_time_ms/inner"), 0.00441);
}

TEST(TensorboardExporterTest, BytesDoNotDependOnTheNumberOfThreads) {
  const model::Trace trace = MakeTrace(20'000);
  const auto export_with = [&](int threads) {
    const ParallelismLimit limit(threads);
    return Export(*NewTensorboardExporter(), trace);
  };
  const Exported one = export_with(1);
  EXPECT_TRUE(export_with(2) == one);
  EXPECT_TRUE(export_with(7) == one);
  const tensorboard::XSpaceView view(tensorboard::ExportXSpace(trace));
  for (const auto& line : view.Plane("/host:CPU").lines()) {
    EXPECT_EQ(line.events_size(), 60'001);
  }
}

// 5,000 ranges "a" and as many "b", in turn, of 10 to 16 ns.
TEST(TensorboardExporterTest, AnXSpaceThatIsTooLargeIsFoldedAndSaysSo) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 10'000; ++i) {
    const TimeNs start = kStart + 100 * i;
    t.AddRange(main, i % 2 == 0 ? "a" : "b", start, start + 10 + i % 7);
  }
  const model::Trace trace = std::move(t).Build();
  ExportNotes notes;
  ExportOptions options;
  options.notes = &notes;
  options.max_bytes = 10'000;
  const std::string bytes = tensorboard::ExportXSpace(trace, options);
  EXPECT_LE(bytes.size(), 10'000u);
  const tensorboard::XSpaceView view(bytes);
  const schema::XPlane& plane = view.Plane("/host:CPU");
  uint64_t calls = 0;
  int64_t time_ps = 0;
  for (const auto& event : view.Line("/host:CPU", "main").events()) {
    uint64_t of_event = 1;
    for (const auto& stat : event.stats()) {
      if (view.StatName(plane, stat.metadata_id()) == "kymo_folded") {
        of_event = stat.uint64_value();
      }
    }
    calls += of_event;
    time_ps += event.duration_ps();
  }
  EXPECT_EQ(calls, 10'000u);
  // 1,428 times 10 to 16 ns, and then 10 to 13.
  EXPECT_EQ(time_ps, (1'428 * 91 + 46) * 1'000);
  EXPECT_THAT(view.space().warnings(),
              testing::ElementsAre(HasSubstr(" ranges are folded")));
  EXPECT_THAT(notes.notices, testing::ElementsAre(HasSubstr(".xplane.pb: ")));
  // One that fits is whole.
  options.max_bytes = tensorboard::ExportXSpace(trace).size() * 8 / 7 + 8;
  EXPECT_EQ(tensorboard::ExportXSpace(trace, options),
            tensorboard::ExportXSpace(trace));
}

TEST(TensorboardExporterTest, SettingsAreChecked) {
  const model::Trace trace = MakeTrace(1);
  for (const char* const value : {"-2", "many", ""}) {
    ExportOptions options;
    options.settings["tensorboard_memory_events"] = value;
    MemoryDirectory out;
    const auto names = NewTensorboardExporter()->Export(trace, options, out);
    EXPECT_EQ(names.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(out.files().empty());
  }
}

// Graph, times and scalars, a record each.
TEST(TensorboardExporterTest, GoldenWhole) {
  std::string text;
  for (const schema::Event& event : ReadEventFile(
           Export(*NewTensorboardExporter(), WholeTrace()).begin()->second)) {
    schema::GraphDef graph;
    ASSERT_TRUE(graph.ParseFromString(event.graph_def()));
    schema::RunMetadata times;
    ASSERT_TRUE(
        times.ParseFromString(event.tagged_run_metadata().run_metadata()));
    schema::Event rest = event;
    if (rest.has_tagged_run_metadata()) {
      rest.mutable_tagged_run_metadata()->clear_run_metadata();
    }
    if (event.what_case() == schema::Event::kGraphDef) rest.clear_graph_def();
    text += rest.ShortDebugString() + "\n";
    for (const auto& node : graph.node()) {
      text += "  node " + node.ShortDebugString() + "\n";
    }
    for (const auto& device : times.step_stats().dev_stats()) {
      text += "  times " + device.ShortDebugString() + "\n";
    }
  }
  ExpectGolden(text, "exporters/tensorboard/testdata/whole.golden.txt");
}

}  // namespace
}  // namespace kymo
