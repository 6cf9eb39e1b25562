// From a database of nvprof to PyTorch's list of events and its texts.
//
// PyTorch 2.15 made the expected texts of testdata/nested_markers.*.txt;
// testdata/make_expected.py says how. The other cases follow from the code of
// load_nvprof (parse_nvprof_trace in torch/autograd/profiler.py).
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "importers/nvprof/nvprof_importer.h"
#include "importers/sqlite/test_database.h"
#include "profiler/events/trace_events.h"

namespace kymo {
namespace {

using sqlite::ImportOrDie;
using sqlite::MakeDatabase;
using sqlite::ReadFile;
using sqlite::TraceOf;

std::string TestData(const std::string& name) {
  const std::string text = ReadFile("importers/nvprof/testdata/" + name);
  EXPECT_FALSE(text.empty()) << name;
  return text;
}

EventList EventsOf(const std::string& name,
                   const std::vector<std::string>& statements) {
  absl::StatusOr<ConvertedEvents> converted =
      EventsOfTrace(TraceOf(ImportOrDie(*NewNvprofImporter(),
                                        MakeDatabase(name, statements))),
                    {.use_device = "cuda"});
  EXPECT_TRUE(converted.ok()) << converted.status();
  return converted.ok() ? std::move(converted->events) : EventList();
}

EventList NestedMarkers() {
  return EventsOf("nested_markers.nvprof", {TestData("nested_markers.sql")});
}

// The markers and their kernels, in nanoseconds since `begin_ns`.
std::string MarkersText(const EventList& events, int64_t begin_ns) {
  const auto ns = [](double us) { return static_cast<int64_t>(us * 1000); };
  std::string text;
  for (const FunctionEvent& event : events) {
    if (!event.is_marker) continue;
    absl::StrAppend(&text, event.name, " ",
                    begin_ns + ns(event.time_range.start_us), " ",
                    begin_ns + ns(event.time_range.end_us), "\n");
    for (const Kernel& kernel : event.kernels) {
      absl::StrAppend(&text, "  ", kernel.name, " on ", kernel.device_index,
                      ": ", ns(kernel.duration_us), "\n");
    }
  }
  return text;
}

// Only the columns that PyTorch reads, and one range of one launch.
std::vector<std::string> OneLaunch(const std::string& call_times) {
  return {
      "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT)",
      "INSERT INTO StringTable VALUES (1, 'foo'), (2, '_Z3barv')",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (id INT, name INT, timestamp "
      "INT)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (1, 1, 100000), (1, 0, "
      "500000)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY KEY, "
      "cbid INT, start INT, end INT, correlationId INT)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 211, " + call_times +
          ", 77)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INT, end INT, "
      "name INT, correlationId INT)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (220000, "
      "320000, 2, 77)"};
}

TEST(NvprofEventsTest, EveryMarkerAroundALaunchListsTheKernel) {
  EXPECT_EQ(MarkersText(NestedMarkers(), 5'000'000),
            TestData("nested_markers.events.txt"));
}

TEST(NvprofEventsTest, TablesCountEachKernelOnce) {
  const EventList events = NestedMarkers();
  const absl::StatusOr<std::string> table = events.table();
  ASSERT_TRUE(table.ok()) << table.status();
  const auto averages = events.key_averages();
  ASSERT_TRUE(averages.ok()) << averages.status();
  const absl::StatusOr<std::string> average_table =
      averages->table({.sort_by = "cuda_time_total"});
  ASSERT_TRUE(average_table.ok()) << average_table.status();
  EXPECT_EQ(*table + "\n" + *average_table,
            TestData("nested_markers.table.txt"));
}

TEST(NvprofEventsTest, ChromeTraceHasAFlowForEachKernelOfEachMarker) {
  EXPECT_EQ(NestedMarkers().chrome_trace(),
            TestData("nested_markers.chrome.txt"));
}

TEST(NvprofEventsTest, OneKernelIsTheDeviceTimeOfItsMarker) {
  const EventList events = EventsOf("one.nvprof", OneLaunch("150000, 200000"));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].name, "foo");
  EXPECT_EQ(events[0].kernels, (std::vector<Kernel>{{"bar()", 0, 100}}));
  EXPECT_EQ(events[0].device_time_total(), 100);
  EXPECT_EQ(events[0].self_device_time_total(), 100);
  EXPECT_EQ(events[0].node_id, -1);
}

// PyTorch's query: start.timestamp < runtime.start AND runtime.end <
// end.timestamp.
TEST(NvprofEventsTest, AMarkerEnclosesTheLaunchStrictly) {
  for (const char* times : {"100000, 200000", "150000, 500000"}) {
    const EventList events = EventsOf("touching.nvprof", OneLaunch(times));
    EXPECT_EQ(MarkersText(events, 100'000), "foo 100000 500000\n") << times;
  }
}

// Calls of one thread tell whose the markers without an object are.
TEST(NvprofEventsTest, MarkersWithoutAThreadAreOfTheOnlyOneThatCalls) {
  const auto thread_of_marker = [](const std::string& second_thread) {
    const model::Trace trace = TraceOf(ImportOrDie(
        *NewNvprofImporter(),
        MakeDatabase(
            "threads.nvprof",
            {"CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT)",
             "INSERT INTO StringTable VALUES (1, 'foo')",
             "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (id INT, name INT, "
             "timestamp "
             "INT)",
             "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (1, 1, 100), (1, "
             "0, "
             "500)",
             "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY "
             "KEY, "
             "cbid INT, start INT, end INT, correlationId INT, processId INT, "
             "threadId INT)",
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 211, 150, "
             "200, "
             "1, 7, 8), (11, 211, 250, 300, -1, 7, " +
                 second_thread + ")"})));
    EXPECT_EQ(trace.detail(sqlite::EventNamed(trace, "cudaLaunchKernel"))
                  ->correlation_id,
              1u);
    const model::Track& track =
        trace.tracks()[trace.track()[sqlite::EventNamed(trace, "foo")]];
    return absl::StrCat(track.pid, "/", track.id);
  };
  EXPECT_EQ(thread_of_marker("8"), "7/8");
  EXPECT_EQ(thread_of_marker("9"), "0/0");
}

}  // namespace
}  // namespace kymo
