// Traces made at random: readers accept what becomes of them, and it has every
// event at its time. And one trace that has everything, field by field.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "exporters/perfetto/perfetto_exporter.h"
#include "exporters/perfetto/test_reader.h"
#include "exporters/perfetto/trace.pb.h"
#include "exporters/timeline/test_random_trace.h"
#include "exporters/timeline/test_whole_trace.h"
#include "tests/support/test_golden.h"

namespace kymo {
namespace {

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

}  // namespace
}  // namespace kymo
