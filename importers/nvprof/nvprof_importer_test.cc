#include "importers/nvprof/nvprof_importer.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "importers/sqlite/test_database.h"

namespace kymo {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::Trace;
using model::TrackKind;
using sqlite::EventNamed;
using sqlite::FindRule;
using sqlite::ImportOrDie;
using sqlite::IntArg;
using sqlite::MakeDatabase;
using sqlite::TextArg;
using sqlite::TextsOf;
using sqlite::TraceOf;

// Only the columns that PyTorch reads.
std::vector<std::string> SmallDatabase(int cbid) {
  return {
      "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT)",
      "INSERT INTO StringTable VALUES (1, 'foo'), (2, '_Z3barv')",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (id INT, name INT, timestamp "
      "INT)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (1, 1, 100), (1, 0, 500)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY KEY, "
      "cbid INT, start INT, end INT, correlationId INT)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, " +
          std::to_string(cbid) + ", 150, 200, 77)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INT, end INT, "
      "name INT, correlationId INT)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (220, 320, 2, "
      "77)"};
}

// Tables with all columns that nvprof writes.
std::vector<std::string> FullDatabase() {
  return {
      "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT)",
      "CREATE TABLE Version (version INT)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (_id_ INTEGER PRIMARY KEY, "
      "flags INT, timestamp INT, id INT, objectKind INT, objectId BLOB, name "
      "INT, domain INT)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY KEY, "
      "cbid INT, start INT, end INT, processId INT, threadId INT, "
      "correlationId INT, returnValue INT)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER (_id_ INTEGER PRIMARY KEY, cbid "
      "INT, start INT, end INT, processId INT, threadId INT, correlationId "
      "INT, returnValue INT)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ INTEGER "
      "PRIMARY KEY, cacheConfig BLOB, sharedMemoryConfig INT, "
      "registersPerThread INT, partitionedGlobalCacheRequested INT, "
      "partitionedGlobalCacheExecuted INT, start INT, end INT, completed INT, "
      "deviceId INT, contextId INT, streamId INT, gridX INT, gridY INT, gridZ "
      "INT, blockX INT, blockY INT, blockZ INT, staticSharedMemory INT, "
      "dynamicSharedMemory INT, localMemoryPerThread INT, localMemoryTotal "
      "INT, correlationId INT, gridId INT, name INT)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (_id_ INTEGER PRIMARY KEY, "
      "copyKind INT, srcKind INT, dstKind INT, flags INT, bytes INT, start "
      "INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId "
      "INT, runtimeCorrelationId INT)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY2 (_id_ INTEGER PRIMARY KEY, "
      "copyKind INT, srcKind INT, dstKind INT, flags INT, bytes INT, start "
      "INT, end INT, deviceId INT, contextId INT, streamId INT, srcDeviceId "
      "INT, srcContextId INT, dstDeviceId INT, dstContextId INT, correlationId "
      "INT)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (_id_ INTEGER PRIMARY KEY, "
      "value INT, bytes INT, start INT, end INT, deviceId INT, contextId INT, "
      "streamId INT, correlationId INT, flags INT, memoryKind INT)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (_id_ INTEGER PRIMARY "
      "KEY, type INT, start INT, end INT, correlationId INT, contextId INT, "
      "streamId INT, cudaEventId INT)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (_id_ INTEGER PRIMARY KEY, "
      "overheadKind INT, objectKind INT, objectId BLOB, start INT, end INT)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_DEVICE (_id_ INTEGER PRIMARY KEY, "
      "flags INT, globalMemoryBandwidth INT, globalMemorySize INT, "
      "numMultiprocessors INT, computeCapabilityMajor INT, "
      "computeCapabilityMinor INT, id INT, name INT)",
      "INSERT INTO StringTable VALUES (1, 'step'), (2, '_Z4gemmPfi'), (3, "
      "'my domain'), (4, 'Tesla V100'), (5, 'whole run'), (6, 'tick'), (7, "
      "'other thread')",
      // Thread 0x9abcdef0 of process 0x1234. As a number it is stored with a
      // sign; as an object it is stored as 4 and 8 little-endian bytes.
      "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES "
      "(1, 2, 1000, 1, 2, x'34120000f0debc9a2a7f0000', 1, 3), "
      "(2, 1, 1500, 2, 2, x'34120000f0debc9a2a7f0000', 6, 0), "
      "(3, 4, 9000, 1, 2, x'34120000f0debc9a2a7f0000', 0, 3), "
      "(4, 2, 500, 3, 1, x'341200000000000000000000', 5, 0), "
      "(5, 4, 9500, 3, 1, x'341200000000000000000000', 0, 0), "
      "(6, 2, 1000, 4, 2, x'34120000070000000000000a', 7, 0), "
      "(7, 4, 8000, 4, 2, x'34120000070000000000000a', 0, 0)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "
      "(1, 211, 2000, 2100, 4660, -1698898192, 77, 0), "
      "(2, 41, 3000, 3100, 4660, -1698898192, 78, 0), "
      "(3, 51, 3200, 3300, 4660, -1698898192, 79, 0), "
      "(4, 131, 4000, 6000, 4660, -1698898192, 80, 0), "
      "(5, 20, 6100, 6200, 4660, -1698898192, 81, 2)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_DRIVER VALUES "
      "(1, 307, 2010, 2090, 4660, -1698898192, 77, 0), "
      "(2, 307, 7000, 7100, 4660, 7, 90, 0)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES "
      "(1, x'00', 0, 32, 0, 0, 2200, 2700, 0, 1, 4, 13, 8, 2, 1, 256, 1, 1, "
      "1024, 512, 0, 0, 77, 5, 2), "
      "(2, x'00', 0, 32, 0, 0, 7200, 7300, 0, 1, 4, 13, 8, 2, 1, 256, 1, 1, "
      "0, 0, 0, 0, 90, 6, 2)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES "
      "(1, 1, 2, 3, 1, 4096, 3150, 3250, 1, 4, 14, 78, 0)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY2 VALUES "
      "(1, 10, 3, 3, 1, 100, 5000, 5100, 0, 4, 15, 0, 4, 1, 5, 82)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES "
      "(1, 0, 64, 3400, 3410, 1, 4, 13, 79, 0, 3)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES "
      "(1, 3, 4010, 5990, 80, 4, 13, 0)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES "
      "(1, 65536, 2, x'34120000f0debc9a2a7f0000', 8100, 8200)",
      "INSERT INTO CUPTI_ACTIVITY_KIND_DEVICE VALUES "
      "(1, 0, 900, 16914055168, 80, 7, 0, 1, 4)"};
}

Trace Import(const std::string& name,
             const std::vector<std::string>& statements) {
  return TraceOf(
      ImportOrDie(*NewNvprofImporter(), MakeDatabase(name, statements)));
}

const model::Track& TrackOf(const Trace& trace, EventIndex event) {
  return trace.tracks()[trace.track()[event]];
}

TEST(NvprofImporterTest, ReadsWhatPyTorchReads) {
  const Trace trace = Import("small.nvprof", SmallDatabase(211));
  ASSERT_EQ(trace.event_count(), 3u);
  const EventIndex range = EventNamed(trace, "foo");
  EXPECT_EQ(trace.start()[range], 100);
  EXPECT_EQ(trace.end()[range], 500);
  EXPECT_EQ(trace.type()[range], ActivityType::kNvtxRange);
  ASSERT_NE(trace.detail(range), nullptr);
  EXPECT_EQ(trace.detail(range)->correlation_id, 1u);  // the marker's id
  const EventIndex call = EventNamed(trace, "cudaLaunchKernel");
  EXPECT_EQ(trace.parent()[call], range);
  const EventIndex kernel = EventNamed(trace, "bar()");
  EXPECT_EQ(trace.end()[kernel] - trace.start()[kernel], 100);
  EXPECT_EQ(trace.detail(kernel)->correlation_id,
            trace.detail(call)->correlation_id);
  EXPECT_EQ(TrackOf(trace, kernel).kind, TrackKind::kStream);
  EXPECT_EQ(TrackOf(trace, kernel).pid, TrackOf(trace, call).pid);
}

TEST(NvprofImporterTest, WhatPyTorchRefusesIsAFindingOrAnError) {
  const auto importer = NewNvprofImporter();
  const std::string path = MakeDatabase("cbid.nvprof", SmallDatabase(13));
  const ImportedTrace imported = ImportOrDie(*importer, path);
  const ImportFinding* const finding =
      FindRule(imported.findings, "launch_cbid");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->message, "Expected cbid to be 211, but got 13");

  const absl::Status status =
      importer->Import(path, {.settings = {{"nvprof_strict", "true"}}})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), path + ": Expected cbid to be 211, but got 13");
  EXPECT_EQ(importer->Import(path, {.settings = {{"nvprof_strict", "perhaps"}}})
                .status()
                .message(),
            "nvprof_strict is 'perhaps'; it takes 0 or 1");
}

TEST(NvprofImporterTest, OfTwoMarkersWithOneIdTheFirstCounts) {
  std::vector<std::string> statements = SmallDatabase(211);
  statements.push_back(
      "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (1, 2, 110)");
  const auto importer = NewNvprofImporter();
  const std::string path = MakeDatabase("twice.nvprof", statements);
  const ImportedTrace imported = ImportOrDie(*importer, path);
  ASSERT_NE(FindRule(imported.findings, "duplicate_key"), nullptr);
  EXPECT_EQ(FindRule(imported.findings, "duplicate_key")->message,
            "duplicate key: (1,)");
  EXPECT_EQ(importer->Import(path, {.settings = {{"nvprof_strict", "true"}}})
                .status()
                .message(),
            path + ": duplicate key: (1,)");
}

TEST(NvprofImporterTest, JoinsMarkersCallsAndWorkOfEveryTable) {
  const Trace trace = Import("full.nvprof", FullDatabase());
  const EventIndex step = EventNamed(trace, "step");
  EXPECT_EQ(TrackOf(trace, step).pid, 0x1234);
  EXPECT_EQ(TrackOf(trace, step).id, 0x9abcdef0);
  EXPECT_EQ(TextArg(trace, step, "domain"), "my domain");
  EXPECT_EQ(trace.end()[step], 9000);
  EXPECT_EQ(trace.parent()[EventNamed(trace, "tick")], step);
  EXPECT_EQ(trace.type()[EventNamed(trace, "tick")],
            ActivityType::kCpuInstantEvent);
  EXPECT_EQ(TrackOf(trace, EventNamed(trace, "other thread")).id, 7);

  const EventIndex run = EventNamed(trace, "whole run");
  EXPECT_TRUE(trace.flags()[run] & model::kEventAsync);
  EXPECT_EQ(trace.parent()[run], model::kNoEvent);

  for (const char* call :
       {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync",
        "cudaStreamSynchronize", "cudaMalloc", "Buffer Flush"}) {
    EXPECT_EQ(trace.parent()[EventNamed(trace, call)], step) << call;
  }
  EXPECT_EQ(IntArg(trace, EventNamed(trace, "cudaMalloc"), "returnValue"), 2);
  EXPECT_EQ(IntArg(trace, EventNamed(trace, "cudaMalloc"), "cbid"), 20);
  const EventIndex driver = EventNamed(trace, "cuLaunchKernel");
  EXPECT_EQ(trace.type()[driver], ActivityType::kCudaDriver);

  const EventIndex kernel = EventNamed(trace, "gemm(float*, int)");
  const model::Track& stream = TrackOf(trace, kernel);
  EXPECT_EQ(stream.device_index, 1);
  EXPECT_EQ(stream.id, 13);
  EXPECT_EQ(stream.pid, 0x1234);
  EXPECT_EQ(trace.detail(kernel)->correlation_id, 77u);
  EXPECT_EQ(TextArg(trace, kernel, "grid"), "[8, 2, 1]");
  EXPECT_EQ(TextArg(trace, kernel, "block"), "[256, 1, 1]");
  EXPECT_EQ(IntArg(trace, kernel, "shared memory"), 1536);
  EXPECT_EQ(IntArg(trace, kernel, "registers per thread"), 32);
}

TEST(NvprofImporterTest, CopiesCarryBytesAndBandwidth) {
  const Trace trace = Import("copies.nvprof", FullDatabase());
  const EventIndex copy = EventNamed(trace, "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(trace.type()[copy], ActivityType::kGpuMemcpy);
  EXPECT_EQ(IntArg(trace, copy, "bytes"), 4096);
  EXPECT_EQ(trace.args(copy).back().double_value(), 40.96);
  EXPECT_EQ(TrackOf(trace, copy).id, 14);
  const EventIndex peer = EventNamed(trace, "Memcpy PtoP (Device -> Device)");
  EXPECT_EQ(IntArg(trace, peer, "fromDevice"), 0);
  EXPECT_EQ(IntArg(trace, peer, "toDevice"), 1);
  const EventIndex set = EventNamed(trace, "Memset (Device)");
  EXPECT_EQ(trace.type()[set], ActivityType::kGpuMemset);
  EXPECT_EQ(IntArg(trace, set, "bytes"), 64);
  const EventIndex sync = EventNamed(trace, "Stream Sync");
  EXPECT_EQ(trace.type()[sync], ActivityType::kCudaSync);
  EXPECT_EQ(trace.detail(sync)->correlation_id, 80u);
  EXPECT_FALSE(trace.ledger().AnythingLost());
}

TEST(NvprofImporterTest, EachRowBecomesAnEvent) {
  const std::string thread = "4660/2596069104 ";
  const std::string shape = "; grid=[8, 2, 1]; block=[256, 1, 1]";
  EXPECT_THAT(
      TextsOf(Import("each.nvprof", FullDatabase())),
      testing::UnorderedElementsAre(
          thread + "step 1000-9000 #1 nvtx_range; domain=my domain",
          thread + "tick 1500-1500 #2 cpu_instant_event",
          "4660/4660 whole run 500-9500 #3 nvtx_range",
          "4660/7 other thread 1000-8000 #4 nvtx_range",
          thread + "cudaLaunchKernel 2000-2100 #77 cuda_runtime; cbid=211",
          thread + "cudaMemcpyAsync 3000-3100 #78 cuda_runtime; cbid=41",
          thread + "cudaMemsetAsync 3200-3300 #79 cuda_runtime; cbid=51",
          thread + "cudaStreamSynchronize 4000-6000 #80 cuda_runtime; cbid=131",
          thread + "cudaMalloc 6100-6200 #81 cuda_runtime; cbid=20; "
                   "returnValue=2",
          thread + "cuLaunchKernel 2010-2090 #77 cuda_driver; cbid=307",
          "4660/7 cuLaunchKernel 7000-7100 #90 cuda_driver; cbid=307",
          thread + "Buffer Flush 8100-8200 overhead",
          "4660/device 1/13 gemm(float*, int) 2200-2700 #77 kernel; context=4; "
          "registers per thread=32; shared memory=1536" +
              shape,
          "4660/device 1/13 gemm(float*, int) 7200-7300 #90 kernel; context=4; "
          "registers per thread=32; shared memory=0" +
              shape,
          "4660/device 1/14 Memcpy HtoD (Pinned -> Device) 3150-3250 #78 "
          "gpu_memcpy; context=4; bytes=4096; memory bandwidth (GB/s)=40.96",
          "4660/device 0/15 Memcpy PtoP (Device -> Device) 5000-5100 #82 "
          "gpu_memcpy; context=4; fromDevice=0; toDevice=1; bytes=100; memory "
          "bandwidth (GB/s)=1",
          "4660/device 1/13 Memset (Device) 3400-3410 #79 gpu_memset; "
          "context=4; bytes=64; memory bandwidth (GB/s)=6.4",
          "4660/device 0/13 Stream Sync 4010-5990 #80 cuda_sync; context=4; "
          "wait_on_cuda_event_id=0"));
}

TEST(NvprofImporterTest, DevicesAreMetadata) {
  const Trace trace = Import("devices.nvprof", FullDatabase());
  ASSERT_EQ(trace.metadata().size(), 1u);
  EXPECT_EQ(trace.Name(trace.metadata()[0].key), "deviceProperties");
  EXPECT_EQ(trace.Name(trace.metadata()[0].json_value),
            R"([{"id": 1, "name": "Tesla V100", "totalGlobalMem": 16914055168,)"
            R"( "computeMajor": 7, "computeMinor": 0, "numSms": 80}])");
}

TEST(NvprofImporterTest, WhatIsOddIsReadAndReported) {
  std::vector<std::string> statements = FullDatabase();
  for (const char* statement :
       {// An end without a start, a start without an end.
        "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (20, 4, 10, 99, 2, "
        "NULL, 0, 0)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (21, 2, 9100, 98, 2, "
        "x'34120000f0debc9a2a7f0000', 1, 0)",
        // Starts without a time, or with a text in its place: no ranges.
        "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (22, 2, NULL, 97, 2, "
        "x'34120000f0debc9a2a7f0000', 1, 0)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (23, 2, 'now', 96, 2, "
        "x'34120000f0debc9a2a7f0000', 1, 0)",
        // Only NULLs; texts; numbers that cannot be times.
        "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (name) VALUES "
        "(NULL)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, name) "
        "VALUES ('now', 'then', 'gemm')",
        "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, name, "
        "deviceId, streamId, correlationId) VALUES (9223372036854775807, "
        "-9223372036854775808, 2, 9223372036854775807, "
        "-9223372036854775808, -9223372036854775808)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, name, "
        "staticSharedMemory, dynamicSharedMemory) VALUES (3, 2, 12345, "
        "9223372036854775807, 9223372036854775807)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, name) "
        "VALUES (0, 0, 2)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY DEFAULT VALUES",
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME DEFAULT VALUES"}) {
    statements.emplace_back(statement);
  }
  ImportedTrace imported =
      ImportOrDie(*NewNvprofImporter(), MakeDatabase("odd.nvprof", statements));
  for (const char* rule : {"marker_without_start", "wrong_type",
                           "time_impossible", "string_missing", "no_times"}) {
    EXPECT_NE(FindRule(imported.findings, rule), nullptr) << rule;
  }
  const Trace trace = TraceOf(std::move(imported));
  EXPECT_GT(trace.ledger().Get(model::Loss::kRecordsCorrupt), 2u);
  EXPECT_EQ(trace.ledger().Get(model::Loss::kRangesOpenAtEnd), 1u);
}

TEST(NvprofImporterTest, OtherDatabasesAreRefusedWithTheirTables) {
  const auto importer = NewNvprofImporter();
  const std::string path =
      MakeDatabase("other.nvprof", {"CREATE TABLE songs (title)"});
  const absl::Status status = importer->Import(path, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("the tables here: songs"),
            absl::string_view::npos)
      << status;
  EXPECT_EQ(importer->Import("/no/such/file", {}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(NvprofImporterTest, RecognizesItsFilesByTheirTables) {
  const auto importer = NewNvprofImporter();
  EXPECT_TRUE(importer->Recognizes(
      sqlite::ReadFile(MakeDatabase("head.nvprof", FullDatabase()))));
  EXPECT_FALSE(importer->Recognizes("{\"traceEvents\": []}"));
  EXPECT_FALSE(importer->Recognizes(""));
  EXPECT_FALSE(importer->Recognizes(sqlite::ReadFile(
      MakeDatabase("head2.nvprof", {"CREATE TABLE StringIds (id, value)"}))));
}

TEST(NvprofImporterTest, MutatedFilesNeitherCrashNorHang) {
  sqlite::ImportMutations(*NewNvprofImporter(),
                          MakeDatabase("mutate.nvprof", FullDatabase()));
}

}  // namespace
}  // namespace kymo
