// From a database of nvprof to PyTorch's list of events and its texts.
//
// PyTorch 2.15 made the expected texts of testdata/nested_markers.*.txt;
// testdata/make_expected.py says how. The other cases follow from the code of
// load_nvprof (parse_nvprof_trace in torch/autograd/profiler.py).
//
// Also rows of tables that nvprof seldom writes, with the event of each.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
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

// A database with a call of thread 7/8 that has the correlation id 77.
ImportedTrace WithOneCall(const std::string& name,
                          std::vector<std::string> statements) {
  statements.insert(
      statements.begin(),
      {"CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT)",
       "INSERT INTO StringTable VALUES (1, 'foo')",
       "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY KEY, "
       "cbid INT, start INT, end INT, correlationId INT, processId INT, "
       "threadId INT)",
       "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 211, 150, 200, 77, "
       "7, 8)"});
  return ImportOrDie(*NewNvprofImporter(), MakeDatabase(name, statements));
}

constexpr const char* kTheCall =
    "7/8 cudaLaunchKernel 150-200 #77 cuda_runtime; cbid=211";

// CUPTI's kinds of objects: 1 is a process of 4 bytes, 2 a thread of 4 and 8.
TEST(NvprofRowsTest, MarkersAreOfTheThreadThatTheyName) {
  EXPECT_THAT(
      sqlite::TextsOf(TraceOf(WithOneCall(
          "objects.nvprof",
          {"CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (flags INT, timestamp INT, "
           "id INT, objectKind INT, objectId BLOB, name INT, domain INT)",
           "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES "
           "(1, 1, 1, 2, x'0100000002000000', 1, 0), "
           "(1, 2, 2, 2, x'01000000020000', 1, 0), "
           "(1, 3, 3, 1, x'05000000', 1, 0), "
           "(1, 4, 4, 1, x'050000', 1, 0), "
           "(1, 5, 5, 3, x'0500000006000000', 1, 0), "
           "(1, 6, 6, 0, NULL, 1, 0), "
           "(3, 7, -7, 2, x'fffffffffefffffe01020304', 1, 1), "
           "(1, 8, 0, 2, x'0102030405060708', 1, 0)"}))),
      testing::UnorderedElementsAre(
          kTheCall, "1/2 foo 1-1 #1 cpu_instant_event",
          "7/8 foo 2-2 #2 cpu_instant_event",
          "5/5 foo 3-3 #3 cpu_instant_event",
          "7/8 foo 4-4 #4 cpu_instant_event",
          "7/8 foo 5-5 #5 cpu_instant_event",
          "7/8 foo 6-6 #6 cpu_instant_event",
          "4294967295/4278190078 foo 7-7 #0 cpu_instant_event; domain=foo",
          "67305985/134678021 foo 8-8 #0 cpu_instant_event"));
}

TEST(NvprofRowsTest, AMarkerWithoutATimeIsCounted) {
  const ImportedTrace imported = ImportOrDie(
      *NewNvprofImporter(),
      MakeDatabase(
          "no_time.nvprof",
          {"CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT)",
           "INSERT INTO StringTable VALUES (1, 'foo')",
           "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (id INT, name INT, "
           "timestamp INT)",
           "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (1, 1, NULL)"}));
  EXPECT_EQ(imported.shards[0].ledger.Get(model::Loss::kRecordsCorrupt), 1u);
}

// CUpti_ActivityOverheadKind.
TEST(NvprofRowsTest, OverheadsHaveTheNamesOfTheirKinds) {
  EXPECT_THAT(
      sqlite::TextsOf(TraceOf(WithOneCall(
          "overheads.nvprof",
          {"CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (overheadKind INT, start "
           "INT, end INT)",
           "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (0, 1, 2), "
           "(1, 3, 4), (65536, 5, 6), (131072, 7, 8), (196608, 9, 10), "
           "(2, 11, 12), (NULL, 13, 14)"}))),
      testing::UnorderedElementsAre(
          kTheCall, "7/8 Overhead 1-2 overhead",
          "7/8 Driver Compiler 3-4 overhead", "7/8 Buffer Flush 5-6 overhead",
          "7/8 Instrumentation 7-8 overhead", "7/8 Resource 9-10 overhead",
          "7/8 Overhead 11-12 overhead", "7/8 Overhead 13-14 overhead"));
}

TEST(NvprofRowsTest, WorkWithoutACallIsOfTheFirstProcess) {
  EXPECT_THAT(
      sqlite::TextsOf(TraceOf(WithOneCall(
          "alone.nvprof",
          {"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (11, 41, 250, 300, "
           "78, 9, 9), (12, 41, 350, 400, -5, 9, 9), (13, 999, 450, 500, 77, "
           "10, 10)",
           // Kernels that were run one after the other have their own table.
           "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, name "
           "INT, deviceId INT, streamId INT, correlationId INT)",
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (500, 501, 1, 2, 3, "
           "77), (502, 503, 1, 2, 3, 78), (504, 505, 1, 2, 3, 79)",
           "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, "
           "copyKind INT, srcKind INT, dstKind INT, correlationId INT, "
           "runtimeCorrelationId INT)",
           "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (600, 601, 1, 1, 3, "
           "5, 78), (602, 603, 1, 1, 3, 77, 78), (604, 605, 1, 1, 3, 5, 0)"}))),
      testing::UnorderedElementsAre(
          kTheCall, "9/9 cudaMemcpyAsync 250-300 #78 cuda_runtime; cbid=41",
          "9/9 cudaMemcpyAsync 350-400 #0 cuda_runtime; cbid=41",
          "10/10 runtime call 999 450-500 #77 cuda_runtime; cbid=999",
          "7/device 2/3 foo 500-501 #77 kernel",
          "9/device 2/3 foo 502-503 #78 kernel",
          "7/device 2/3 foo 504-505 #79 kernel",
          "7/device 0/0 Memcpy HtoD (Pageable -> Device) 600-601 #78 "
          "gpu_memcpy",
          "7/device 0/0 Memcpy HtoD (Pageable -> Device) 602-603 #77 "
          "gpu_memcpy",
          "7/device 0/0 Memcpy HtoD (Pageable -> Device) 604-605 #5 "
          "gpu_memcpy"));
}

TEST(NvprofRowsTest, WhatIsNotInTheFileIsSaid) {
  const ImportedTrace imported = WithOneCall(
      "missing.nvprof",
      {"CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (timestamp INT, id INT, name "
       "INT)",
       "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (1, 1, 4), (2, 2, 5), "
       "(3, 3, 0), (4, 4, 0)",
       "CREATE TABLE CUPTI_ACTIVITY_KIND_DEVICE (id INT, name INT)"});
  ASSERT_EQ(imported.findings.size(), 2u);
  EXPECT_EQ(imported.findings[0].rule, "string_missing");
  EXPECT_EQ(imported.findings[0].message,
            "a name is not in StringTable: string 4");
  EXPECT_EQ(imported.findings[0].count, 2u);
  EXPECT_EQ(imported.findings[1].rule, "marker_without_start");
  EXPECT_EQ(imported.findings[1].count, 2u);
  // A table without rows tells nothing of devices.
  EXPECT_TRUE(imported.shards[0].metadata.empty());
}

TEST(NvprofRowsTest, ProgressIsToldStepByStep) {
  std::vector<double> told;
  ImportOptions options;
  options.progress = [&](double done) { told.push_back(done); };
  const auto imported = NewNvprofImporter()->Import(
      MakeDatabase("progress.nvprof", OneLaunch("150000, 200000")), options);
  ASSERT_TRUE(imported.ok()) << imported.status();
  ASSERT_EQ(told.size(), 6u);
  for (int i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(told[i], (i + 1) / 6.0);
}

TEST(NvprofRowsTest, ADatabaseOfNvprofHasTextsAndActivities) {
  const auto importer = NewNvprofImporter();
  const auto message_of = [&](const std::vector<std::string>& statements) {
    const std::string path = MakeDatabase("tables.nvprof", statements);
    const absl::Status status = importer->Import(path, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    const std::string message(status.message());
    return message.substr(message.rfind("; ") + 2);
  };
  EXPECT_EQ(message_of({}), "the tables here: none");
  EXPECT_EQ(message_of({"CREATE TABLE StringTable (_id_)"}),
            "the tables here: StringTable");
  EXPECT_EQ(message_of({"CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (id)",
                        "CREATE TABLE B_CUPTI_ACTIVITY_KIND_B (id)"}),
            "the tables here: B_CUPTI_ACTIVITY_KIND_B, "
            "CUPTI_ACTIVITY_KIND_MARKER");
  const std::string sqlite("SQLite format 3\0", 16);
  EXPECT_TRUE(importer->Recognizes(sqlite + "StringTable _id_"));
  EXPECT_FALSE(importer->Recognizes(sqlite + "StringTable"));
  EXPECT_FALSE(importer->Recognizes(sqlite + "_id_"));
  EXPECT_FALSE(importer->Recognizes("SQLite format 2 StringTable _id_"));
}

}  // namespace
}  // namespace kymo
