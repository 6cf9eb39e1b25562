// Traces made at random: readers accept what becomes of them, and it has every
// event at its time. And one trace that has everything, field by field; and
// files that are too large.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "exporters/perfetto/perfetto_exporter.h"
#include "exporters/perfetto/test_reader.h"
#include "exporters/perfetto/trace.pb.h"
#include "exporters/timeline/test_random_trace.h"
#include "exporters/timeline/test_whole_trace.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_gzip.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Start and end of all slices and instants of events.
std::vector<std::pair<uint64_t, uint64_t>> EventTimes(
    const perfetto::DecodedTrace& trace) {
  std::vector<std::pair<uint64_t, uint64_t>> times;
  for (const perfetto::DecodedTrack& track : trace.tracks) {
    if (track.name == "samples" || track.name == "Recording") continue;
    for (const perfetto::DecodedSlice& slice : track.slices) {
      times.emplace_back(slice.start_ns, slice.end_ns);
    }
  }
  std::sort(times.begin(), times.end());
  return times;
}

TEST(PerfettoRandomTraceTest, ReadersAcceptEveryTrace) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const model::Trace trace = RandomTrace(seed).Make();
    const perfetto::DecodedTrace decoded = perfetto::ReadTrace(
        Export(*NewPerfettoExporter(), trace)["trace.pftrace"]);
    std::vector<std::pair<uint64_t, uint64_t>> expected;
    for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
      expected.emplace_back(trace.start()[i], trace.end()[i]);
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(EventTimes(decoded), expected);
    if (HasFailure()) break;
  }
}

TEST(PerfettoRandomTraceTest, EveryFieldIsWhatTheGoldenFileSays) {
  const std::string bytes =
      Export(*NewPerfettoExporter(), WholeTrace())["trace.pftrace"];
  perfetto::ReadTrace(bytes);
  perfetto::schema::Trace file;
  ASSERT_TRUE(file.ParseFromString(bytes));
  std::string text;
  for (const auto& packet : file.packet()) {
    text += packet.ShortDebugString() + "\n";
  }
  ExpectGolden(text, "exporters/perfetto/testdata/whole.golden.txt");
}

// 5,000 ranges "a" and as many "b", in turn, of 10 to 16 ns. One sample each
// 100 ranges, of "f" and "g", in turn.
model::Trace ManyRangesAndSamples() {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  t.data().sampling_period_ns = 10'000;
  for (int i = 0; i < 10'000; ++i) {
    const TimeNs start = 100 * i;
    t.AddRange(main, i % 2 == 0 ? "a" : "b", start, start + 10 + i % 7);
    if (i % 100 != 0) continue;
    t.AddSample(main, start, 10'000, {"main", i % 200 == 0 ? "f" : "g"});
  }
  return std::move(t).Build();
}

Exported Bounded(const model::Trace& trace, uint64_t max_bytes,
                 ExportNotes& notes) {
  ExportOptions options;
  options.max_bytes = max_bytes;
  options.notes = &notes;
  return Export(*NewPerfettoExporter(), trace, options);
}

TEST(PerfettoFileSizeTest, AFileThatIsTooLargeIsCompressed) {
  const model::Trace trace = ManyRangesAndSamples();
  const std::string plain =
      Export(*NewPerfettoExporter(), trace)["trace.pftrace"];
  ExportNotes notes;
  EXPECT_THAT(Bounded(trace, plain.size(), notes),
              ElementsAre(Pair("trace.pftrace", plain)));
  const Exported files = Bounded(trace, plain.size() - 1, notes);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_TRUE(Unzip(files.at("trace.pftrace.gz")) == plain);
  EXPECT_THAT(notes.notices, ElementsAre());
}

TEST(PerfettoFileSizeTest, WhatDoesNotFitCompressedIsFoldedAndCounted) {
  ExportNotes notes;
  const std::string gzip =
      Bounded(ManyRangesAndSamples(), 20'000, notes).at("trace.pftrace.gz");
  EXPECT_LE(gzip.size(), 20'000u);
  const perfetto::DecodedTrace trace = perfetto::ReadTrace(Unzip(gzip));
  std::map<std::string, int64_t> calls;
  uint64_t time_ns = 0;
  int64_t folded = 0;
  for (const perfetto::DecodedSlice& slice : trace.Find("main").slices) {
    const auto count = slice.args.find("kymo_folded");
    if (count == slice.args.end()) {
      ++calls[slice.name];
    } else {
      calls[slice.name] += std::stoll(count->second);
      folded += std::stoll(count->second);
    }
    time_ns += slice.end_ns - slice.start_ns;
  }
  EXPECT_THAT(calls, ElementsAre(Pair("a", 5'000), Pair("b", 5'000)));
  // 10,000 lengths: 1,428 times 10 to 16 ns, and then 10 to 13.
  EXPECT_EQ(time_ns, 1'428 * 91u + 46);
  EXPECT_GT(folded, 5'000);
  EXPECT_EQ(trace.Find("Recording").slices[0].args.at("events_folded"),
            absl::StrCat(folded));
  EXPECT_EQ(notes.ledger.Get(model::Loss::kEventsFolded), folded);
  // "main" is long; "f" and "g" are as long as a period.
  EXPECT_THAT(trace.Names("samples"), ElementsAre("main"));
  EXPECT_EQ(trace.samples.size(), 100u);
  EXPECT_THAT(
      notes.notices,
      ElementsAre(HasSubstr(" of 10000 ranges are folded"),
                  HasSubstr("100 of 101 slices of samples are left out")));
}

}  // namespace
}  // namespace kymo
