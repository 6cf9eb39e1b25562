#include "exporters/perfetto/perfetto_exporter.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/perfetto/test_reader.h"
#include "profiler/base/parallel.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using perfetto::DecodedSlice;
using perfetto::DecodedTrace;
using perfetto::DecodedTrack;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr TimeNs kBase = 1'735'632'360 * kNsPerSecond;

std::string Bytes(const model::Trace& trace,
                  const ExportOptions& options = {}) {
  return Export(*NewPerfettoExporter(), trace, options)["trace.pftrace"];
}

DecodedTrace Decode(TestTrace t) {
  return perfetto::ReadTrace(Bytes(std::move(t).Build()));
}

// "name start-end depth".
std::vector<std::string> Texts(const DecodedTrack& track) {
  std::vector<std::string> texts;
  for (const DecodedSlice& slice : track.slices) {
    texts.push_back(slice.name + " " + std::to_string(slice.start_ns) + "-" +
                    std::to_string(slice.end_ns) + " " +
                    std::to_string(slice.depth));
  }
  return texts;
}

TEST(PerfettoExporterTest, RangesNestOnTheirThread) {
  TestTrace t;
  t.SetWindow(kBase, kBase + 500);
  t.AddProcess(7, "app");
  const auto main = t.AddThread(7, 8, "worker");
  t.AddRange(main, "forward", kBase + 10, kBase + 100);
  t.AddRange(main, "mm", kBase + 10, kBase + 50);
  t.AddInstant(main, "tick", kBase + 20);
  t.AddRange(main, "add", kBase + 50, kBase + 100);
  t.AddRange(main, "backward", kBase + 100, kBase + 200);
  const DecodedTrace trace = Decode(std::move(t));
  EXPECT_EQ(trace.realtime_ns, static_cast<uint64_t>(kBase));
  const DecodedTrack& worker = trace.Find("worker");
  EXPECT_EQ(worker.pid, 7);
  EXPECT_EQ(worker.tid, 8);
  EXPECT_EQ(trace.Find("app").pid, 7);
  EXPECT_THAT(Texts(worker),
              ElementsAre("forward 10-100 0", "mm 10-50 1", "tick 20-20 2",
                          "add 50-100 1", "backward 100-200 0"));
  EXPECT_TRUE(worker.slices[2].is_instant);
  EXPECT_EQ(worker.slices[0].category, "cpu_op");
  EXPECT_THAT(worker.slices[0].args, IsEmpty());
}

TEST(PerfettoExporterTest, EmptyTraceIsTheRecordingAlone) {
  const DecodedTrace trace = Decode(TestTrace());
  ASSERT_EQ(trace.tracks.size(), 1u);
  EXPECT_THAT(Texts(trace.tracks[0]), ElementsAre("recording 0-0 0"));
}

TEST(PerfettoExporterTest, RecordingCarriesMetadataAndLosses) {
  TestTrace t;
  t.SetWindow(100, 300);
  t.AddMetadata("rank", "0");
  t.AddMetadata("rank", "1");
  t.data().ledger.Add(model::Loss::kRangesOpenAtEnd, 3);
  const DecodedTrace trace = Decode(std::move(t));
  const DecodedSlice& recording = trace.Find("Recording").slices[0];
  EXPECT_EQ(recording.end_ns, 200u);
  EXPECT_THAT(recording.args,
              ElementsAre(Pair("ranges_open_at_end", "3"), Pair("rank", "1")));
}

TEST(PerfettoExporterTest, ZeroLengthRangesStayWhereTheyWere) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddRange(0, "outer", 10, 20);
  t.AddRange(0, "at start", 10, 10);
  t.AddRange(0, "inner", 10, 20);
  t.AddRange(0, "at end", 20, 20);
  EXPECT_THAT(Texts(Decode(std::move(t)).Find("main")),
              ElementsAre("outer 10-20 0", "at start 10-10 1", "inner 10-20 1",
                          "at end 20-20 0"));
}

TEST(PerfettoExporterTest, NamesStayAsTheyAre) {
  const std::vector<std::string> names = {
      "tab\there", "quo\"te",       "λ→😀", std::string("a\0b", 3),
      "\x01\x7f",  "operator<<(x)", "",    std::string(65'536, 'T')};
  TestTrace t;
  t.AddThread(1, 1, "ma\"in");
  for (size_t i = 0; i < names.size(); ++i) {
    t.AddRange(0, names[i], 10 * i, 10 * i + 5);
  }
  EXPECT_EQ(Decode(std::move(t)).Names("ma\"in"), names);
}

TEST(PerfettoExporterTest, BytesThatAreNotUtf8AreReplaced) {
  TestTrace t;
  t.AddProcess(1, "p\xFF");
  t.AddThread(1, 1, "t\xC3");
  t.AddRange(0, "a\xFF", 0, 10);
  t.Describe(0, {model::Arg::String(t.Intern("k\xFF"), t.Intern("v\xFF"))});
  const DecodedTrace trace = Decode(std::move(t));
  const DecodedSlice& slice = trace.Find("t\uFFFD").slices[0];
  EXPECT_EQ(slice.name, "a\uFFFD");
  EXPECT_THAT(slice.args, ElementsAre(Pair("k\uFFFD", "v\uFFFD")));
  EXPECT_EQ(trace.Find("p\uFFFD").pid, 1);
}

TEST(PerfettoExporterTest, OpenRangesEndWithTheTraceAndSaySo) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddRange(0, "open", 0, 100, model::ActivityType::kCpuOp, model::kEventOpen);
  const DecodedTrace trace = Decode(std::move(t));
  EXPECT_THAT(Texts(trace.Find("main")), ElementsAre("open 0-100 0"));
  EXPECT_THAT(trace.Find("main").slices[0].args,
              ElementsAre(Pair("finished", "false")));
}

TEST(PerfettoExporterTest, AsynchronousRangesShareLanes) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  const auto add = [&](const char* name, TimeNs start, TimeNs end) {
    t.AddRange(0, name, start, end, model::ActivityType::kCpuOp,
               model::kEventAsync);
  };
  t.AddRange(0, "sync", 0, 100);
  add("a", 10, 30);
  add("b", 20, 50);
  t.AddRange(0, "child", 25, 60);
  add("c", 30, 40);
  const DecodedTrace trace = Decode(std::move(t));
  EXPECT_THAT(Texts(trace.Find("main")),
              ElementsAre("sync 0-100 0", "child 25-60 1"));
  std::vector<std::vector<std::string>> lanes;
  for (const DecodedTrack& track : trace.tracks) {
    if (track.name != "asynchronous") continue;
    EXPECT_EQ(track.parent_uuid, trace.Find("main").uuid);
    lanes.push_back(Texts(track));
  }
  EXPECT_THAT(lanes, ElementsAre(ElementsAre("a 10-30 0", "c 30-40 0"),
                                 ElementsAre("b 20-50 0")));
}

TEST(PerfettoExporterTest, LanesAreTracksBelowTheirThread) {
  TestTrace t;
  t.AddThread(5, 9, "worker");
  t.AddRange(0, "a", 0, 10);
  t.AddThread(5, 9, "worker");
  t.AddRange(1, "b", 5, 15);
  const DecodedTrace trace = Decode(std::move(t));
  EXPECT_THAT(trace.Names("worker"), ElementsAre("a"));
  EXPECT_THAT(trace.Names("lane 2"), ElementsAre("b"));
  EXPECT_EQ(trace.Find("lane 2").parent_uuid, trace.Find("worker").uuid);
}

TEST(PerfettoExporterTest, IdsThatDoNotFitAreReplacedAndKept) {
  TestTrace t;
  t.AddThread(int64_t{1} << 40, 0, "huge");
  t.AddRange(0, "a", 0, 10);
  const DecodedTrack thread = Decode(std::move(t)).Find("huge");
  EXPECT_EQ(thread.pid, 1'000'000'000);
  EXPECT_EQ(thread.tid, 1'000'000'001);
  EXPECT_EQ(thread.description, "thread id 0");
}

TEST(PerfettoExporterTest, StreamsStandBelowTheirDevice) {
  TestTrace t;
  t.AddProcess(7, "app");
  t.AddThread(7, 7, "main");
  t.AddStream(0, 7);
  t.AddRange(1, "gemm", 5, 15, model::ActivityType::kConcurrentKernel);
  const DecodedTrace trace = Decode(std::move(t));
  const DecodedTrack& stream = trace.Find("Stream 7");
  EXPECT_THAT(Texts(stream), ElementsAre("gemm 5-15 0"));
  EXPECT_EQ(stream.slices[0].category, "kernel");
  EXPECT_EQ(stream.parent_uuid, trace.Find("GPU 0").uuid);
  EXPECT_EQ(trace.Find("GPU 0").parent_uuid, trace.Find("app").uuid);
}

TEST(PerfettoExporterTest, CountersKeepTheirThreads) {
  TestTrace t;
  t.AddThread(1, 1, "a");
  t.AddThread(1, 2, "b");
  t.AddCounter(0, "depth", 1, 1.5);
  t.AddCounter(0, "depth", 4, 2);
  t.AddCounter(0, "other", 1, 7);
  t.AddCounter(1, "depth", 2, -3);
  const DecodedTrace trace = Decode(std::move(t));
  std::vector<std::vector<perfetto::DecodedPoint>> depths;
  for (const DecodedTrack& track : trace.tracks) {
    if (track.name != "depth") continue;
    EXPECT_EQ(track.parent_uuid, trace.Find(depths.empty() ? "a" : "b").uuid);
    depths.push_back(track.points);
  }
  using Point = perfetto::DecodedPoint;
  EXPECT_THAT(depths, ElementsAre(ElementsAre(Point{1, 1.5}, Point{4, 2}),
                                  ElementsAre(Point{2, -3})));
}

TEST(PerfettoExporterTest, MemoryInUseIsACounterInBytes) {
  TestTrace t;
  t.AddProcess(7, "app");
  t.AddThread(7, 7, "main");
  t.SetWindow(0, 100);
  for (const int64_t total : {1'000, 3'000, 500}) {
    t.data().memory.push_back({.source = model::MemorySource::kHeap,
                               .time_ns = total / 100,
                               .bytes = total,
                               .total_allocated = total});
  }
  std::swap(t.data().memory[0], t.data().memory[2]);
  std::swap(t.data().memory[1], t.data().memory[2]);
  const DecodedTrace trace = Decode(std::move(t));
  const DecodedTrack& heap = trace.Find("Memory: heap");
  EXPECT_EQ(heap.unit, 3u);
  EXPECT_EQ(heap.parent_uuid, trace.Find("app").uuid);
  using Point = perfetto::DecodedPoint;
  EXPECT_THAT(heap.points,
              ElementsAre(Point{5, 500}, Point{10, 1'000}, Point{30, 3'000}));
}

TEST(PerfettoExporterTest, SamplesAreSlicesAndSamples) {
  TestTrace t;
  t.data().sampling_period_ns = 100;
  t.AddThread(1, 2, "main");
  t.AddSample(0, 1'000, 100, {"main", "f"});
  t.AddSample(0, 1'100, 100, {"main", "f", "g"});
  t.AddSample(0, 1'200, 100, {});
  const auto leaf = t.data().stacks.AddFrame({.function = t.Intern("h"),
                                              .file = t.Intern("h.c"),
                                              .module = t.Intern("/bin/xz"),
                                              .line = 12});
  t.data().samples.push_back(
      {0, t.data().stacks.Push(model::kEmptyStack, leaf), 5'000, 100});
  const DecodedTrace trace = Decode(std::move(t));
  const DecodedTrack& samples = trace.Find("samples");
  EXPECT_THAT(Texts(samples), ElementsAre("main 1000-1200 0", "f 1000-1200 1",
                                          "g 1100-1200 2", "h 5000-5100 0"));
  EXPECT_EQ(samples.slices[3].source, "h.c:12 h");
  EXPECT_THAT(samples.slices[3].args, ElementsAre(Pair("module", "/bin/xz")));
  EXPECT_EQ(samples.slices[0].category, "cpu_sample");
  ASSERT_EQ(trace.samples.size(), 3u);
  EXPECT_EQ(trace.samples[1].callstack, "main;f;g");
  EXPECT_EQ(trace.samples[1].time_ns, 1'100u);
  EXPECT_EQ(trace.samples[1].tid, 2);
}

TEST(PerfettoExporterTest, OneEventAtTheEndOfAYearKeepsItsNanoseconds) {
  constexpr TimeNs kYear = int64_t{365} * 86'400 * kNsPerSecond;
  TestTrace t;
  t.SetWindow(kBase, kBase + kYear);
  t.AddThread(1, 1, "main");
  t.AddRange(0, "late", kBase + kYear - 3, kBase + kYear - 1);
  const DecodedTrace trace = Decode(std::move(t));
  EXPECT_EQ(trace.Find("main").slices[0].start_ns,
            static_cast<uint64_t>(kYear - 3));
  EXPECT_EQ(trace.Find("main").slices[0].end_ns,
            static_cast<uint64_t>(kYear - 1));
}

TEST(PerfettoExporterTest, WhatPrecedesTheWindowIsNotMoved) {
  TestTrace t;
  t.SetWindow(1'000, 2'000);
  t.AddThread(1, 1, "main");
  t.AddRange(0, "early", -500, 1'500);
  const DecodedTrace trace = Decode(std::move(t));
  EXPECT_THAT(Texts(trace.Find("main")), ElementsAre("early 0-2000 0"));
  EXPECT_THAT(Texts(trace.Find("Recording")),
              ElementsAre("recording 1500-2500 0"));
}

model::Trace ManyRanges(int count) {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < count; ++i) {
    t.AddRange(main, "f" + std::to_string(i % 50), 100 * i, 100 * i + 70);
    t.AddRange(main, "g", 100 * i + 10, 100 * i + 20);
    if (i % 7 == 0) t.Describe(0, {model::Arg::Int(t.Intern("i"), i)});
  }
  return std::move(t).Build();
}

TEST(PerfettoExporterTest, SameBytesForAnyNumberOfThreads) {
  const model::Trace trace = ManyRanges(150'000);
  const std::string parallel = Bytes(trace);
  const ParallelismLimit limit(1);
  EXPECT_TRUE(Bytes(trace) == parallel);
  EXPECT_EQ(perfetto::ReadTrace(parallel).Find("main").slices.size(),
            trace.event_count());
}

TEST(PerfettoExporterTest, GzipHoldsTheSameBytes) {
  const model::Trace trace = ManyRanges(1'000);
  ExportOptions options;
  options.gzip = true;
  const std::string folder = testing::TempDir() + "/perfetto_gzip";
  OutputDirectory out(folder);
  const auto files = NewPerfettoExporter()->Export(trace, options, out);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(*files, ElementsAre("trace.pftrace.gz"));
  gzFile file = gzopen((folder + "/trace.pftrace.gz").c_str(), "rb");
  std::string bytes(10 << 20, '\0');
  const int size =
      gzread(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  bytes.resize(static_cast<size_t>(size));
  EXPECT_TRUE(bytes == Bytes(trace));
}

TEST(PerfettoExporterTest, ProgressRisesToOne) {
  std::vector<double> seen;
  ExportOptions options;
  options.progress = [&](double part) { seen.push_back(part); };
  Bytes(ManyRanges(100'000), options);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 1.0);
}

class FullDirectory : public OutputDirectory {
 public:
  FullDirectory() : OutputDirectory("full") {}
  absl::StatusOr<std::unique_ptr<ByteSink>> Open(std::string_view) override {
    return std::make_unique<Sink>();
  }

 private:
  class Sink : public ByteSink {
    absl::Status Append(std::string_view bytes) override {
      written_ += bytes.size();
      return written_ > 2'000'000 ? absl::ResourceExhaustedError("disk full")
                                  : absl::OkStatus();
    }
    absl::Status Commit() override {
      ADD_FAILURE() << "a file that is not complete";
      return absl::OkStatus();
    }
    size_t written_ = 0;
  };
};

TEST(PerfettoExporterTest, FullDiskIsAnError) {
  FullDirectory out;
  EXPECT_EQ(NewPerfettoExporter()
                ->Export(ManyRanges(150'000), {}, out)
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace kymo
