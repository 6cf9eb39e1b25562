// How the exporter stays within a number of bytes.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "exporters/chrome/test_chrome.h"
#include "exporters/timeline/bounded_file.h"
#include "exporters/timeline/fold_ranges.h"
#include "profiler/analysis/averages/key_averages.h"
#include "profiler/analysis/memory/memory_usage.h"
#include "profiler/base/parallel.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_gzip.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

// Steps with many short ranges "a" and "b", in turn, and one long one each.
model::Trace ManyRanges() {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  TimeNs now = 0;
  for (int step = 0; step < 10; ++step) {
    t.AddRange(main, "step", now, now + 400'000);
    for (int i = 0; i < 1'000; ++i) {
      const TimeNs start = now + 100 * i;
      t.AddRange(main, i % 2 == 0 ? "a" : "b", start, start + 10 + i % 7);
    }
    t.AddRange(main, "long", now + 200'000, now + 300'000);
    now += 500'000;
  }
  return std::move(t).Build();
}

// Calls, total and self time by name.
std::map<std::string, std::vector<int64_t>> Sums(const model::Trace& trace) {
  std::map<std::string, std::vector<int64_t>> sums;
  for (const analysis::KeyAverage& average : analysis::KeyAverages(trace)) {
    sums[average.name] = {average.count, average.cpu_time_total_ns,
                          average.self_cpu_time_total_ns};
  }
  return sums;
}

Exported Chrome(const model::Trace& trace, uint64_t max_bytes,
                ExportNotes* notes = nullptr) {
  ExportOptions options;
  options.max_bytes = max_bytes;
  options.notes = notes;
  return Export(*NewChromeExporter(), trace, options);
}

TEST(FileSizeTest, ASmallFileIsPlain) {
  const model::Trace trace = ManyRanges();
  const std::string plain = ChromeText(trace);
  ExportNotes notes;
  EXPECT_THAT(Chrome(trace, plain.size(), &notes),
              ElementsAre(Pair("trace.json", plain)));
  EXPECT_THAT(notes.notices, ElementsAre());
}

TEST(FileSizeTest, ALargeFileIsCompressedWhole) {
  const model::Trace trace = ManyRanges();
  std::string plain = ChromeText(trace);
  ExportNotes notes;
  const Exported files = Chrome(trace, plain.size() - 1, &notes);
  ASSERT_EQ(files.size(), 1u);
  ASSERT_EQ(files.begin()->first, "trace.json.gz");
  // The file says its own name.
  const size_t name = plain.rfind("trace.json");
  plain.replace(name, 10, "trace.json.gz");
  EXPECT_EQ(Unzip(files.begin()->second), plain);
  EXPECT_THAT(notes.notices, ElementsAre());
  EXPECT_EQ(notes.ledger.Get(model::Loss::kEventsFolded), 0u);
}

TEST(FileSizeTest, RangesThatDoNotFitAreFoldedAndCounted) {
  const model::Trace trace = ManyRanges();
  constexpr uint64_t kMostBytes = 8'000;
  ExportNotes notes;
  const Exported files = Chrome(trace, kMostBytes, &notes);
  const std::string& gzip = files.at("trace.json.gz");
  EXPECT_LE(gzip.size(), kMostBytes);
  const google::protobuf::Struct json = ParseJson(Unzip(gzip));
  std::map<std::string, double> calls;
  std::map<std::string, double> times_us;
  double folded = 0;
  for (const JsonMap& event : Events(json, "X")) {
    double count = 1;
    if (event.contains("args")) {
      const auto& args = event.at("args").struct_value().fields();
      if (args.contains("kymo_folded")) {
        count = args.at("kymo_folded").number_value();
        folded += count;
      }
    }
    calls[Text(event, "name")] += count;
    times_us[Text(event, "name")] += Number(event, "dur");
  }
  EXPECT_EQ(calls["a"], 5'000);
  EXPECT_EQ(calls["b"], 5'000);
  EXPECT_EQ(calls["long"], 10);
  EXPECT_EQ(calls["step"], 10);
  // 1,000 lengths of a step: 142 times 10 to 16 ns, and then 10 to 15.
  EXPECT_NEAR(times_us["a"] + times_us["b"],
              10 * (142 * (70 + 21) + 60 + 15) / 1000.0, 0.01);
  EXPECT_GT(folded, 5'000);
  EXPECT_EQ(notes.ledger.Get(model::Loss::kEventsFolded), folded);
  EXPECT_EQ(json.fields()
                .at("kymo_loss_ledger")
                .struct_value()
                .fields()
                .at("events_folded")
                .number_value(),
            folded);
  EXPECT_THAT(notes.notices, ElementsAre(HasSubstr("--max_size")));
}

TEST(FileSizeTest, TheThreadsDoNotMatter) {
  const model::Trace trace = ManyRanges();
  const Exported all = Chrome(trace, 8'000);
  Exported one;
  {
    const ParallelismLimit limit(1);
    one = Chrome(trace, 8'000);
  }
  EXPECT_EQ(all, one);
}

TEST(FileSizeTest, FoldingKeepsCallsAndTimes) {
  const model::Trace trace = ManyRanges();
  const auto sums = Sums(trace);
  for (const size_t keep : {500, 50, 0}) {
    const timeline::FoldedTrace folded = timeline::FoldShortRanges(trace, keep);
    ASSERT_TRUE(model::ValidateTrace(folded.trace).ok())
        << model::ValidateTrace(folded.trace);
    EXPECT_LE(folded.trace.event_count(), keep + 40);
    EXPECT_EQ(Sums(folded.trace), sums) << keep;
  }
}

TEST(FileSizeTest, RangesWithDetailsAndOtherNamesAreNotFolded) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 100; ++i) {
    t.AddRange(main, "op", 10 * i, 10 * i + 1);
    t.Describe(5 + i);
  }
  for (int i = 100; i < 200; ++i) {
    t.AddRange(main, absl::StrCat("f", i), 10 * i, 10 * i + 1);
  }
  const model::Trace trace = std::move(t).Build();
  const timeline::FoldedTrace folded = timeline::FoldShortRanges(trace, 10);
  EXPECT_EQ(folded.ranges, 0u);
  EXPECT_EQ(folded.trace.event_count(), trace.event_count());
}

// Each "a" allocates. Nine "b" that do not follow each of them.
model::Trace RangesThatAllocate(model::MemorySource source) {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 4'000; ++i) {
    const TimeNs start = 100 * i;
    const bool allocates = i % 10 == 0;
    t.AddRange(main, allocates ? "a" : "b", start, start + 50);
    if (allocates) {
      t.data().memory.push_back({.track = main,
                                 .source = source,
                                 .time_ns = start + 20,
                                 .address = static_cast<uint64_t>(16 * i + 16),
                                 .bytes = 10});
    }
  }
  return std::move(t).Build();
}

TEST(FileSizeTest, FoldingKeepsReportedMemory) {
  const model::Trace trace = RangesThatAllocate(model::MemorySource::kReported);
  const timeline::FoldedTrace folded = timeline::FoldShortRanges(trace, 0);
  const analysis::MemoryUsage usage =
      analysis::MeasureMemoryUsage(folded.trace);
  std::map<std::string, int64_t> bytes;
  for (model::EventIndex i = 0; i < folded.trace.event_count(); ++i) {
    bytes[std::string(folded.trace.EventName(i))] += usage.cpu_bytes[i];
  }
  EXPECT_THAT(bytes, ElementsAre(Pair("a", 4'000), Pair("b", 0)));
  // The nine of each group are one.
  EXPECT_EQ(folded.ranges, 400 * 9u);
}

// Records of the heap would be in other ranges than those that allocated.
TEST(FileSizeTest, AFoldedFileHasNoHeapRecordsAndSaysSo) {
  const model::Trace trace = RangesThatAllocate(model::MemorySource::kHeap);
  ExportNotes notes;
  const Exported files = Chrome(trace, 4'000, &notes);
  const google::protobuf::Struct json =
      ParseJson(Unzip(files.at("trace.json.gz")));
  EXPECT_EQ(json.fields().at("kymo_heap_records_left_out").number_value(), 400);
  EXPECT_THAT(notes.notices,
              ::testing::Contains(HasSubstr("memory is shown as its sum")));
}

// The notice gives the reason that counts.
TEST(FileSizeTest, HeapRecordsThatWereNotWantedAreNotBlamedOnTheSize) {
  const model::Trace trace = RangesThatAllocate(model::MemorySource::kHeap);
  ExportNotes notes;
  ExportOptions options;
  options.max_bytes = 4'000;
  options.notes = &notes;
  options.settings["chrome_memory_events"] = "399";
  Export(*NewChromeExporter(), trace, options);
  EXPECT_THAT(notes.notices,
              ::testing::Not(::testing::Contains(HasSubstr("memory"))));
}

// A file of WriteBounded with noise_of(trace, form) bytes of noise.
struct BoundedNoise {
  int writes = 0;
  size_t bytes = 0;
  ExportNotes notes;

  template <typename NoiseOf>
  BoundedNoise(const model::Trace& trace, uint64_t max_bytes, bool obeys_fold,
               const NoiseOf& noise_of) {
    ExportOptions options;
    options.notes = &notes;
    MemoryDirectory out;
    const auto name = timeline::WriteBounded(
        {.name = "f", .max_bytes = max_bytes, .obeys_fold = obeys_fold}, trace,
        options, out,
        [&](const model::Trace& shown, const timeline::FileForm& form,
            ByteSink& sink) {
          ++writes;
          return sink.Append(Noise(noise_of(shown, form)));
        });
    EXPECT_TRUE(name.ok()) << name.status();
    for (const auto& [file, text] : out.files()) bytes += text.size();
  }
};

TEST(FileSizeTest, WhatCannotBeMadeSmallIsLeftOut) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  for (int i = 0; i < 100'000; ++i) t.AddSample(0, i, 1, {"main"});
  const model::Trace samples = std::move(t).Build();
  const auto always = [](const model::Trace&, const timeline::FileForm&) {
    return size_t{30'000};
  };
  // Plain, compressed, and with a part of 4, 16, 128, 2048, 65536 and none.
  const BoundedNoise without_ranges(samples, 10'000, false, always);
  EXPECT_EQ(without_ranges.writes, 8);
  EXPECT_EQ(without_ranges.bytes, 0u);
  EXPECT_EQ(without_ranges.notes.ledger.Get(model::Loss::kTimelineLeftOut),
            100'000u);
  EXPECT_THAT(without_ranges.notes.notices,
              ElementsAre(HasSubstr("f is left out")));
  // A writer that does not do what it says is given two attempts more.
  const BoundedNoise obeys(samples, 10'000, true, always);
  EXPECT_EQ(obeys.writes, 10);
}

TEST(FileSizeTest, TheFoldIsChosenByTheSize) {
  const BoundedNoise got(
      ManyRanges(), 20'000, false,
      [](const model::Trace& shown, const timeline::FileForm&) {
        return 30 * shown.event_count();
      });
  // 10,020 events have 300,600 bytes, 16 times too many.
  EXPECT_LE(got.bytes, 20'000u);
  EXPECT_GE(got.bytes, 20'000u / 4);
  EXPECT_LE(got.writes, 3);
  EXPECT_THAT(got.notes.notices, ElementsAre(HasSubstr("of 10020 ranges")));
}

TEST(FileSizeTest, AHeapWithoutRangesFitsToo) {
  TestTrace t;
  t.AddProcess(1, "app");
  t.AddThread(1, 1, "main");
  for (int i = 0; i < 20'000; ++i) {
    t.data().memory.push_back({.source = model::MemorySource::kHeap,
                               .time_ns = 1'000 * i,
                               .address = 16u * static_cast<uint64_t>(i) + 16,
                               .bytes = 10 + i % 977});
  }
  const model::Trace trace = std::move(t).Build();
  ExportNotes notes;
  const Exported files = Chrome(trace, 100'000, &notes);
  EXPECT_LE(files.at("trace.json.gz").size(), 100'000u);
  EXPECT_THAT(notes.notices, ElementsAre(HasSubstr("as its sum over time")));
}

TEST(FileSizeTest, AnEarlierFileOfTheOtherFormIsRemoved) {
  const model::Trace trace = ManyRanges();
  MemoryDirectory out;
  for (const uint64_t max_bytes : {0, 20'000, 0}) {
    ExportOptions options;
    options.max_bytes = max_bytes;
    const auto names = NewChromeExporter()->Export(trace, options, out);
    ASSERT_TRUE(names.ok()) << names.status();
    EXPECT_EQ(out.files().size(), 1u);
    EXPECT_EQ(out.files().begin()->first, names->front());
  }
}

// The notices of a file that is too large for the slices of 2,000 samples.
// max_bytes is 0: it is one byte too large.
std::vector<std::string> NoticesOfSlices(bool has_sums, size_t max_bytes = 0) {
  TestTrace t;
  t.AddProcess(1, "app");
  t.AddThread(1, 1, "main");
  t.data().sampling_period_ns = kNsPerMs;
  for (int i = 0; i < 2'000; ++i) {
    t.AddSample(0, i * kNsPerMs, kNsPerMs,
                {"main", absl::StrCat("f", i % 3), absl::StrCat("g", i % 7)});
  }
  if (has_sums) {
    t.data().sample_sums.push_back({.track = 0,
                                    .stack = t.Stack({"main"}),
                                    .count = 9,
                                    .weight_ns = 9 * kNsPerMs});
  }
  t.SetWindow(0, 2'000 * kNsPerMs);
  const model::Trace trace = std::move(t).Build();
  const size_t whole = Chrome(trace, 1 << 20).at("trace.json").size();
  const size_t gzip = Chrome(trace, whole - 1).at("trace.json.gz").size();
  ExportNotes notes;
  if (max_bytes == 0) max_bytes = gzip - 1;
  const Exported files = Chrome(trace, max_bytes, &notes);
  EXPECT_LT(files.at("trace.json.gz").size(), gzip);
  return notes.notices;
}

TEST(FileSizeTest, ShortSlicesOfSamplesAreLeftOutAndSaid) {
  EXPECT_THAT(NoticesOfSlices(false),
              ::testing::Contains(AllOf(HasSubstr("flame charts"),
                                        HasSubstr("every sample as numbers"))));
  EXPECT_THAT(
      NoticesOfSlices(true),
      ::testing::Contains(AllOf(HasSubstr("flame charts"),
                                HasSubstr("newest samples as numbers, and "
                                          "sums of the older ones"))));
}

TEST(FileSizeTest, ItSaysThatSamplesThemselvesAreLeftOut) {
  EXPECT_THAT(NoticesOfSlices(false, /*max_bytes=*/2'000),
              ElementsAre(AllOf(HasSubstr(" samples are left out"),
                                Not(HasSubstr("every sample as numbers")))));
}

// Short ones of the slices: the exact records have every wait.
TEST(FileSizeTest, ShortWaitsAreLeftOutOfAFileThatIsTooLarge) {
  TestTrace t;
  const auto main = t.AddThread(7, 8, "main");
  t.SetMinWait(1'000);
  for (int i = 0; i < 20'000; ++i) {
    t.AddWait({.track = main,
               .kind = model::WaitKind::kLock,
               .begin_ns = TimeNs{2'000'000} * i,
               .duration_ns = 1'000 + i * 7'919 % 10'007});
  }
  t.AddWait({.track = main,
             .kind = model::WaitKind::kSleep,
             .begin_ns = 40'000'000'000,
             .duration_ns = 1'000'000'000});
  const model::Trace trace = std::move(t).Build();
  const auto whole = Export(*NewChromeExporter(), trace, {.gzip = true});
  ExportOptions options;
  ExportNotes notes;
  options.notes = &notes;
  options.max_bytes = whole.at("trace.json.gz").size() / 4 * 3;
  const auto files = Export(*NewChromeExporter(), trace, options);
  const std::string& file = files.at("trace.json.gz");
  EXPECT_LE(file.size(), options.max_bytes);
  ASSERT_EQ(notes.notices.size(), 1u);
  EXPECT_THAT(notes.notices[0], HasSubstr(" slices of waits are left out"));
  const std::string text = Unzip(file);
  EXPECT_NE(text.find("\"name\":\"sleep\""), text.npos);
  EXPECT_EQ(text.find("\"ts\":0.000,\"dur\":1.000"), text.npos);
  EXPECT_NE(text.find("[0,1,0,0,1000,"), text.npos);
  EXPECT_NE(text.find("[0,1,0,39998000000,"), text.npos);
}

}  // namespace
}  // namespace kymo
