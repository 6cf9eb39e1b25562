// A whole XSpace, and its bounds.
#include "exporters/tensorboard/xspace/xspace.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "exporters/tensorboard/step_names.h"
#include "exporters/tensorboard/test_xspace.h"
#include "exporters/timeline/test_whole_trace.h"
#include "profiler/plugin/sink.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo::tensorboard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Write(const model::Trace& trace, const XSpaceSettings& settings) {
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  const absl::Status status =
      WriteXSpace(trace, StepNames(trace.strings()), settings, {}, *sink);
  EXPECT_TRUE(status.ok()) << status;
  return bytes;
}

// Planes, lines and events as texts. Ids of metadata are the writer's choice.
std::string SpaceText(const schema::XSpace& space) {
  std::string text;
  for (const std::string& host : space.hostnames()) {
    absl::StrAppend(&text, "host ", host, "\n");
  }
  for (const std::string& warning : space.warnings()) {
    absl::StrAppend(&text, "warning ", warning, "\n");
  }
  for (const schema::XPlane& plane : space.planes()) {
    absl::StrAppend(&text, "plane ", plane.id(), " ", plane.name(), "\n");
    for (const schema::XStat& stat : plane.stats()) {
      absl::StrAppend(&text, "  ", XSpaceView::Text(plane, stat), "\n");
    }
    for (const schema::XLine& line : plane.lines()) {
      absl::StrAppend(&text, "  line ", line.id(), " ", line.name(), "\n");
      for (const schema::XEvent& event : line.events()) {
        absl::StrAppend(&text, "    ", XSpaceView::Text(plane, event), "\n");
      }
    }
  }
  return text;
}

TEST(XSpaceFileTest, EverythingIsWhatTheGoldenFileSays) {
  const XSpaceView view(Write(WholeTrace(), {.host = "machine"}));
  ExpectGolden(SpaceText(view.space()),
               "exporters/tensorboard/xspace/testdata/whole.golden.txt");
  for (const schema::XPlane& plane : view.space().planes()) {
    for (const auto& [id, metadata] : plane.event_metadata()) {
      EXPECT_EQ(metadata.id(), id);
    }
    for (const auto& [id, metadata] : plane.stat_metadata()) {
      EXPECT_EQ(metadata.id(), id);
    }
  }
}

TEST(XSpaceFileTest, TheBoundIsThatOfTheWholeFile) {
  const model::Trace trace = WholeTrace();
  const std::string bytes = Write(trace, {.host = "machine"});
  // The bytes are counted before they are written.
  EXPECT_EQ(Write(trace, {.host = "machine", .most_bytes = bytes.size()}),
            bytes);
  std::string none;
  const auto sink = NewStringSink(&none);
  const absl::Status status = WriteXSpace(
      trace, StepNames(trace.strings()),
      {.host = "machine", .most_bytes = bytes.size() - 1}, {}, *sink);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("an XSpace of ", bytes.size(),
                                     " bytes, and XProf reads at most ",
                                     bytes.size() - 1, ";")));
  EXPECT_EQ(none, "");
}

TEST(XSpaceFileTest, ProgressCountsAllItems) {
  std::vector<double> seen;
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  const model::Trace trace = WholeTrace();
  ASSERT_TRUE(WriteXSpace(
                  trace, StepNames(trace.strings()), {.host = "h"},
                  [&](double done) { seen.push_back(done); }, *sink)
                  .ok());
  ASSERT_FALSE(seen.empty());
  EXPECT_GT(seen.front(), 0);
  EXPECT_LT(seen.front(), 0.5);
  EXPECT_EQ(seen.back(), 1);
}

TEST(XSpaceFileTest, HeapRecordsBeyondTheBoundAreLeftOutAndSaid) {
  TestTrace t;
  t.SetWindow(0, 100'000);
  t.AddThread(7, 42, "main");
  for (int i = 0; i < 30'000; ++i) {
    t.data().memory.push_back({.source = model::MemorySource::kHeap,
                               .time_ns = 3 * i,
                               .address = 64,
                               .bytes = i % 2 == 0 ? 16 : -16,
                               .total_allocated = i % 2 == 0 ? 16 : 0});
  }
  const model::Trace trace = std::move(t).Build();
  const auto events = [](const std::string& bytes) {
    return XSpaceView(bytes).Line("/host:CPU", "main").events_size();
  };
  EXPECT_EQ(events(Write(trace, {.max_heap_records = -1})), 30'000);
  EXPECT_EQ(events(Write(trace, {.max_heap_records = 30'000})), 30'000);
  const std::string thin = Write(trace, {.max_heap_records = 29'999});
  EXPECT_LE(events(thin), 20'000);
  EXPECT_THAT(XSpaceView(thin).space().warnings(),
              ElementsAre(absl::StrCat(
                  "tensorboard_memory_events: ", 30'000 - events(thin),
                  " records of the heap are left out, but for the extremes of "
                  "what was in use")));
}

// The first lines have the ids of their threads, if these fit.
TEST(XSpaceFileTest, LinesHaveIdsOfTheirOwn) {
  TestTrace t;
  for (const int64_t id :
       {int64_t{5}, int64_t{1'000'000'000}, int64_t{2'147'483'647},
        int64_t{2'147'483'648}, int64_t{-1}, int64_t{0}}) {
    const auto track = t.AddThread(7, id, "");
    t.AddRange(track, "f", 0, 10);
    t.AddRange(track, "g", 0, 10, model::ActivityType::kCpuOp,
               model::kEventAsync);
  }
  std::vector<std::string> lines;
  const XSpaceView view(Write(std::move(t).Build(), {}));
  for (const schema::XLine& line : view.Plane("/host:CPU").lines()) {
    lines.push_back(absl::StrCat(line.id(), " ", line.name()));
  }
  EXPECT_THAT(
      lines, ElementsAre("5 thread 5", "1000000001 thread 5 (async)",
                         "1000000000 thread 1000000000",
                         "1000000002 thread 1000000000 (async)",
                         "2147483647 thread 2147483647",
                         "1000000003 thread 2147483647 (async)",
                         "1000000004 thread 2147483648",
                         "1000000005 thread 2147483648 (async)",
                         "1000000006 thread -1", "1000000007 thread -1 (async)",
                         "0 thread 0", "1000000008 thread 0 (async)"));
}

// Times count from the start, or from the earliest record of any kind.
TEST(XSpaceFileTest, TimesCountFromTheEarliestRecord) {
  const auto start_of = [](void (*add)(TestTrace&)) {
    TestTrace t;
    t.SetWindow(1'000, 2'000);
    t.AddThread(7, 42, "main");
    add(t);
    const XSpaceView view(Write(std::move(t).Build(), {}));
    std::vector<std::string> times;
    const schema::XPlane& plane = view.Plane("Task Environment");
    for (const schema::XStat& stat : plane.stats()) {
      times.push_back(XSpaceView::Text(plane, stat));
    }
    return absl::StrCat(times.at(0), " ", times.at(1));
  };
  const std::string end = " profile_stop_time=2000u";
  EXPECT_EQ(start_of([](TestTrace&) {}), "profile_start_time=1000u" + end);
  EXPECT_EQ(start_of([](TestTrace& t) { t.AddRange(0, "f", 1'500, 1'600); }),
            "profile_start_time=1000u" + end);
  EXPECT_EQ(start_of([](TestTrace& t) { t.AddRange(0, "f", 500, 600); }),
            "profile_start_time=500u" + end);
  EXPECT_EQ(start_of([](TestTrace& t) { t.AddSample(0, 400, 1, {"f"}); }),
            "profile_start_time=400u" + end);
  EXPECT_EQ(start_of([](TestTrace& t) { t.AddCounter(0, "c", 300, 1); }),
            "profile_start_time=300u" + end);
  EXPECT_EQ(start_of([](TestTrace& t) {
              t.data().memory.push_back({.time_ns = 200, .bytes = 1});
            }),
            "profile_start_time=200u" + end);
}

TEST(XSpaceFileTest, StreamsSayWhatTheyDo) {
  using enum model::ActivityType;
  TestTrace t;
  int64_t id = 0;
  for (const std::vector<model::ActivityType>& types :
       std::vector<std::vector<model::ActivityType>>{
           {},
           {kGpuMemcpy, kConcurrentKernel},
           {kGpuMemcpy},
           {kGpuMemset},
           {kGpuMemset, kGpuMemcpy},
           {kCudaSync},
           {kCudaSync, kGpuMemset},
           {kGpuUserAnnotation}}) {
    const auto track = t.AddStream(0, id++, 7);
    for (size_t i = 0; i < types.size(); ++i) {
      t.AddRange(track, "x", 10 * static_cast<TimeNs>(i),
                 10 * static_cast<TimeNs>(i) + 5, types[i]);
    }
  }
  std::vector<std::string> lines;
  const XSpaceView view(Write(std::move(t).Build(), {}));
  for (const schema::XLine& line : view.Plane("/device:GPU:0").lines()) {
    lines.push_back(line.name());
  }
  // A stream without events has no line.
  EXPECT_THAT(lines, ElementsAre("Stream #1(Compute)", "Stream #2(Memcpy)",
                                 "Stream #3(Memset)",
                                 "Stream #4(Memcpy,Memset)", "Stream #5(Sync)",
                                 "Stream #6(Memset)", "Stream #7(Compute)"));
}

// XProf's 64 bits hold 106 days of ps.
TEST(XSpaceFileTest, TimesBeyond104DaysAreCut) {
  constexpr TimeNs kMost = 9'000'000'000'000'000;
  const auto offset_of = [](TimeNs time_ns) {
    TestTrace t;
    t.AddThread(7, 42, "main");
    t.AddRange(0, "first", 0, 1);
    t.AddRange(0, "last", time_ns, time_ns);
    const XSpaceView view(Write(std::move(t).Build(), {}));
    return view.Line("/host:CPU", "main").events(1).offset_ps();
  };
  EXPECT_EQ(offset_of(kMost - 1), 1'000 * (kMost - 1));
  EXPECT_EQ(offset_of(kMost), 1'000 * kMost);
  EXPECT_EQ(offset_of(kMost + 1), 1'000 * kMost);
  // A window of such a length without early events begins with the first.
  TestTrace t;
  t.SetWindow(0, kMost + 1);
  t.AddThread(7, 42, "main");
  t.AddRange(0, "late", kMost, kMost + 1);
  const XSpaceView view(Write(std::move(t).Build(), {}));
  EXPECT_EQ(view.Line("/host:CPU", "main").events(0).offset_ps(), 0);
}

}  // namespace
}  // namespace kymo::tensorboard
