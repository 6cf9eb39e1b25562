#include "exporters/memory_timeline/memory_timeline.h"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/memory_timeline/timeline_page.h"
#include "profiler/model/folded_memory.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_page.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

// 40 bytes of the host from 5 to 9 us, and a report of 8 bytes of cuda:0.
model::Trace MakeTrace() {
  TestTrace t;
  t.SetWindow(2'000, 12'000);
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "matmul", 4'000, 10'000);
  t.data().memory.push_back({.track = main,
                             .time_ns = 5'000,
                             .bytes = 40,
                             .total_reserved = 64,
                             .partner = 2});
  t.data().memory.push_back({.track = main,
                             .device_type = 1,
                             .device_index = 0,
                             .time_ns = 6'000,
                             .bytes = 8});
  t.data().memory.push_back(
      {.track = main, .time_ns = 9'000, .bytes = -40, .partner = 0});
  return std::move(t).Build();
}

constexpr char kRows[] =
    "[[5, 9], [[0, 0, 0, 0, 40, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]]]";

// Reads a file, compressed or not.
std::string ReadFile(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return "cannot open " + path;
  std::string text(1 << 20, '\0');
  text.resize(static_cast<size_t>(
      gzread(file, text.data(), static_cast<unsigned>(text.size()))));
  gzclose(file);
  return text;
}

bool IsGzip(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return in.get() == 0x1f && in.get() == 0x8b;
}

std::string Page(const model::Trace& trace) {
  return Export(*NewMemoryTimelineExporter(), trace)["memory_timeline.html"];
}

// The data that the page's script reads.
google::protobuf::Struct PageData(const std::string& page) {
  return ParseJson(BlockOfPage(page, "timeline"));
}

TEST(MemoryTimelineExporterTest, ThePathsEndChoosesTheForm) {
  const std::string folder = testing::TempDir() + "/memory_timeline_forms/";
  std::filesystem::create_directories(folder);
  const auto written = [&](const std::string& name) {
    const absl::Status status =
        ExportMemoryTimeline(MakeTrace(), folder + name);
    EXPECT_TRUE(status.ok()) << status;
    return ReadFile(folder + name);
  };
  EXPECT_EQ(written("a.json"), kRows);
  EXPECT_EQ(written("a"), kRows);
  EXPECT_EQ(written("a.json.gz"), kRows);
  EXPECT_EQ(written("a.raw.json"), kRows);
  EXPECT_EQ(written("a.raw.json.gz"), "[[5000, 2, 40, 3], [9000, 4, -40, 3]]");
  EXPECT_THAT(written("a.html"), HasSubstr("<!DOCTYPE html>"));
  EXPECT_TRUE(IsGzip(folder + "a.json.gz"));
  EXPECT_TRUE(IsGzip(folder + "a.raw.json.gz"));
  EXPECT_FALSE(IsGzip(folder + "a.json"));
}

TEST(MemoryTimelineExporterTest, DevicesAreTheirOwnTimelines) {
  const std::string path = testing::TempDir() + "/cuda.json";
  ASSERT_TRUE(ExportMemoryTimeline(MakeTrace(), path, "cuda:0").ok());
  EXPECT_EQ(ReadFile(path), "[[6], [[0, 0, 0, 0, 0, 0, 0, 0, 8]]]");
  ASSERT_TRUE(ExportMemoryTimeline(MakeTrace(), path, "cuda:1").ok());
  EXPECT_EQ(ReadFile(path), "[[], []]");
}

TEST(MemoryTimelineExporterTest, OtherDevicesAndFoldersAreErrors) {
  const std::string path = testing::TempDir() + "/never.json";
  EXPECT_EQ(ExportMemoryTimeline(MakeTrace(), path, "gpu").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(
      ExportMemoryTimeline(MakeTrace(), "/proc/self/nowhere/a.json").ok());
}

TEST(MemoryTimelineExporterTest, SettingsChooseFormAndDevice) {
  ExportOptions options;
  options.settings["memory_timeline_form"] = "json";
  EXPECT_THAT(Export(*NewMemoryTimelineExporter(), MakeTrace(), options),
              ElementsAre(Pair("memory_timeline.json", kRows)));
  options.settings["memory_timeline_device"] = "cuda";
  EXPECT_THAT(Export(*NewMemoryTimelineExporter(), MakeTrace(), options),
              ElementsAre(Pair("memory_timeline.json", HasSubstr("[[6], "))));
  options.gzip = true;
  EXPECT_THAT(Export(*NewMemoryTimelineExporter(), MakeTrace(), options),
              ElementsAre(Pair("memory_timeline.json.gz", testing::_)));
  options.settings["memory_timeline_form"] = "raw";
  EXPECT_THAT(Export(*NewMemoryTimelineExporter(), MakeTrace(), options),
              ElementsAre(Pair("memory_timeline.raw.json.gz", testing::_)));
  options.settings["memory_timeline_form"] = "svg";
  MemoryDirectory out;
  EXPECT_EQ(NewMemoryTimelineExporter()
                ->Export(MakeTrace(), options, out)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(MemoryTimelineExporterTest, ThePageLoadsNothing) {
  const std::string page = Page(MakeTrace());
  EXPECT_THAT(page, HasSubstr("Max memory allocated: "));
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; script-src"));
  for (const char* load : {"http:", "https:", "src=", "href=", "url(",
                           "@import", "fetch(", "XMLHttpRequest"}) {
    EXPECT_THAT(page, Not(HasSubstr(load)));
  }
}

TEST(MemoryTimelineExporterTest, ThePagesDataCountsFromTheStart) {
  const auto data = PageData(Page(MakeTrace()));
  const auto number = [&](const char* key) {
    return data.fields().at(key).number_value();
  };
  EXPECT_EQ(data.fields().at("device").string_value(), "cpu");
  EXPECT_EQ(number("end_us"), 10);
  EXPECT_EQ(number("max_allocated"), 40);
  EXPECT_EQ(number("max_reserved"), 64);
  EXPECT_EQ(number("points"), 2);
  const auto& times = data.fields().at("times_us").list_value().values();
  ASSERT_EQ(times.size(), 2);
  EXPECT_EQ(times[0].number_value(), 3);
  EXPECT_EQ(times[1].number_value(), 7);
  EXPECT_EQ(data.fields()
                .at("bytes")
                .list_value()
                .values(0)
                .list_value()
                .values(3)
                .number_value(),
            40);
}

TEST(MemoryTimelineExporterTest, ARecordAtTheStartIsAtTimeZero) {
  TestTrace t;
  t.SetWindow(2'000, 12'000);
  const auto main = t.AddThread(1, 1, "main");
  for (const TimeNs time_ns : {2'000, 2'999, 3'000, 12'000}) {
    t.data().memory.push_back({.track = main, .time_ns = time_ns, .bytes = 40});
  }
  const auto data = PageData(Page(std::move(t).Build()));
  std::vector<double> times;
  for (const auto& time : data.fields().at("times_us").list_value().values()) {
    times.push_back(time.number_value());
  }
  ASSERT_FALSE(times.empty());
  EXPECT_EQ(times.front(), 0);
  EXPECT_EQ(times.back(), 10);
  EXPECT_EQ(data.fields().at("end_us").number_value(), 10);
}

// Categories belong to operations, and need single records.
TEST(MemoryTimelineExporterTest,
     FoldedMemoryBesideOperationsSaysWhatIsMissing) {
  const auto notices = [](bool with_operation, const std::string& device) {
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    t.AddAnnotation(main, "step", 1'000, 20'000);
    if (with_operation) t.AddRange(main, "matmul", 4'000, 10'000);
    t.data().folded_memory = std::make_shared<model::FoldedMemory>();
    ExportNotes notes;
    ExportOptions options = {.notes = &notes};
    options.settings["memory_timeline_device"] = device;
    Export(*NewMemoryTimelineExporter(), std::move(t).Build(), options);
    return notes.notices;
  };
  EXPECT_THAT(notices(true, "cpu"),
              ElementsAre(HasSubstr("not divided into categories")));
  EXPECT_THAT(notices(true, "cuda:0"), ElementsAre());
  EXPECT_THAT(notices(false, "cpu"), ElementsAre());
}

TEST(MemoryTimelineExporterTest, AnEmptyTraceIsAnEmptyPage) {
  const auto data = PageData(Page(TestTrace().Build()));
  EXPECT_EQ(data.fields().at("times_us").list_value().values_size(), 0);
}

TEST(MemoryTimelineExporterTest, LongTimelinesAreThinnedAndKeepTheirPeak) {
  constexpr int kEvents = 100'000;
  constexpr int kPeak = 54'321;
  std::vector<analysis::MemoryTimelineEvent> events(kEvents);
  for (int i = 0; i < kEvents; ++i) {
    events[i] = {.time_ns = 1'000 * i, .bytes = i % 2 == 0 ? 100 : -100};
  }
  events[kPeak - 1].bytes = 1'000'000;
  events[kPeak].bytes = -1'000'000;
  const auto data = ParseJson(memory_timeline::TimelinePageData(
      {.events = events, .device = "cpu", .end_ns = 1'000 * kEvents}));
  EXPECT_EQ(data.fields().at("points").number_value(), kEvents);
  const auto& rows = data.fields().at("bytes").list_value().values();
  EXPECT_LE(static_cast<size_t>(rows.size()), memory_timeline::kMaxPagePoints);
  EXPECT_GE(static_cast<size_t>(rows.size()),
            memory_timeline::kMaxPagePoints / 2);
  double most = 0;
  for (const auto& row : rows) {
    most = std::max(most, row.list_value().values(7).number_value());
  }
  EXPECT_EQ(most, data.fields().at("max_allocated").number_value());
  EXPECT_GE(most, 1'000'000);
}

// The example of timeline_page.h, whole.
TEST(MemoryTimelineExporterTest, ThePagesDataIsWhatItsHeaderSays) {
  std::vector<analysis::MemoryTimelineEvent> events = {
      {.time_ns = 5'000,
       .bytes = 40,
       .category = analysis::MemoryCategory::kActivation},
      {.time_ns = 9'000,
       .bytes = -15,
       .category = analysis::MemoryCategory::kActivation}};
  constexpr char kCategories[] =
      "\"categories\": [\"PARAMETER\", \"OPTIMIZER_STATE\", \"INPUT\", "
      "\"TEMPORARY\", \"ACTIVATION\", \"GRADIENT\", \"AUTOGRAD_DETAIL\", "
      "\"Unknown\"],\n";
  EXPECT_EQ(memory_timeline::TimelinePageData({.events = events,
                                               .device = "cpu",
                                               .start_ns = 2'000,
                                               .end_ns = 92'000,
                                               .max_reserved = 64}),
            std::string("{\"device\": \"cpu\",\n\"end_us\": 90,\n"
                        "\"max_allocated\": 40,\n\"max_reserved\": 64,\n"
                        "\"points\": 2,\n") +
                kCategories +
                "\"times_us\": [3,7],\n"
                "\"bytes\": [\n[0,0,0,0,40,0,0,0],\n[0,0,0,0,25,0,0,0]]}");
  // Folded memory has one curve, which was thinned before.
  model::FoldedMemory folded;
  folded.live = {{3'000, 100}, {4'999, 300}, {8'000, 0}};
  folded.live_moments = 12'345;
  EXPECT_EQ(memory_timeline::TimelinePageData(
                {.events = events, .folded = &folded, .end_ns = 10'000}),
            std::string("{\"device\": \"\",\n\"end_us\": 10,\n"
                        "\"max_allocated\": 300,\n\"max_reserved\": 0,\n"
                        "\"points\": 12345,\n") +
                kCategories +
                "\"times_us\": [3,4,8],\n"
                "\"bytes\": [\n[0,0,0,0,0,0,0,100],\n[0,0,0,0,0,0,0,300],\n"
                "[0,0,0,0,0,0,0,0]]}");
}

TEST(MemoryTimelineExporterTest, AFoldedHeapIsThePageOfTheHost) {
  TestTrace t;
  t.SetWindow(2'000, 12'000);
  t.AddThread(1, 1, "main");
  auto folded = std::make_shared<model::FoldedMemory>();
  folded->live = {{5'000, 77}};
  folded->live_moments = 1;
  t.data().folded_memory = folded;
  t.data().memory.push_back({.device_type = 1,
                             .device_index = 0,
                             .time_ns = 6'000,
                             .bytes = 8,
                             .total_reserved = 256});
  t.data().memory.push_back({.device_type = 1,
                             .device_index = 0,
                             .time_ns = 7'000,
                             .bytes = 8,
                             .total_reserved = 128});
  t.data().memory.push_back({.device_type = 1,
                             .device_index = 1,
                             .time_ns = 8'000,
                             .bytes = 8,
                             .total_reserved = 512});
  const model::Trace trace = std::move(t).Build();
  const auto numbers = [&](const std::string& device) {
    ExportOptions options;
    options.settings["memory_timeline_device"] = device;
    const auto data = PageData(Export(*NewMemoryTimelineExporter(), trace,
                                      options)["memory_timeline.html"]);
    EXPECT_EQ(data.fields().at("device").string_value(), device);
    return std::pair(data.fields().at("max_allocated").number_value(),
                     data.fields().at("max_reserved").number_value());
  };
  EXPECT_EQ(numbers("cpu"), std::pair(77.0, 0.0));
  EXPECT_EQ(numbers("cuda:0"), std::pair(16.0, 256.0));
  EXPECT_EQ(numbers("cuda:1"), std::pair(8.0, 512.0));
}

// Not one point more than the page has, and all of them if they fit.
TEST(MemoryTimelineExporterTest, UpToTheLimitAllPointsAreShown) {
  const auto count = [](size_t points) {
    std::vector<analysis::MemoryTimelineEvent> events(points);
    for (size_t i = 0; i < points; ++i) {
      events[i] = {.time_ns = 1'000 * static_cast<TimeNs>(i), .bytes = 1};
    }
    const auto data = ParseJson(memory_timeline::TimelinePageData(
        {.events = events, .end_ns = 1'000 * static_cast<TimeNs>(points)}));
    EXPECT_EQ(data.fields().at("points").number_value(),
              static_cast<double>(points));
    return data.fields().at("times_us").list_value().values_size();
  };
  EXPECT_EQ(count(5'000), 5'000);
  // A slot of rising points keeps the first and the last of them.
  EXPECT_LT(count(5'001), 5'000);
}

TEST(MemoryTimelineExporterTest, ErrorsSayWhichDeviceIsNone) {
  const absl::Status status =
      ExportMemoryTimeline(MakeTrace(), testing::TempDir() + "/a", "gpu");
  EXPECT_EQ(std::string(status.message()),
            "memory timeline: 'gpu' is no device; write it as 'cpu' or "
            "'cuda:0'");
  EXPECT_EQ(NewMemoryTimelineExporter()->info().name, "memory_timeline");
}

}  // namespace
}  // namespace kymo
