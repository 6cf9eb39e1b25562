// Each row of a database with the event that it becomes.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "importers/nsys/nsys_importer.h"
#include "importers/nsys/test_nsys_database.h"
#include "importers/sqlite/test_database.h"

namespace kymo {
namespace {

using nsys::FullDatabase;
using nsys::Global;
using nsys::kSession;
using sqlite::ImportOrDie;
using sqlite::MakeDatabase;
using sqlite::TextsOf;
using sqlite::TraceOf;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

std::vector<std::string> TextsOfImport(
    const std::string& name, const std::vector<std::string>& statements) {
  return TextsOf(
      TraceOf(ImportOrDie(*NewNsysImporter(), MakeDatabase(name, statements))),
      kSession);
}

TEST(NsysRowsTest, EachRowBecomesAnEvent) {
  const std::string thread = "100/101 ";
  const std::string shape =
      "registers per thread=64; shared memory=2048; grid=[8, 1, 1]; "
      "block=[128, 1, 1]";
  EXPECT_THAT(
      TextsOfImport("each.sqlite", FullDatabase()),
      UnorderedElementsAre(
          thread + "outer 1000-9000 #0 nvtx_range; domain=my domain; "
                   "category=io; payload=42",
          thread + "registered 1500-5000 #0 nvtx_range; payload=0.5",
          thread + "across 500-9500 nvtx_range",
          thread + "mark 1600-1600 cpu_instant_event",
          thread + "open 9100-9500 nvtx_range",
          thread + "cudaLaunchKernel 2000-2100 #7 cuda_runtime",
          thread + "cuLaunchKernel 2010-2090 #8 cuda_driver",
          "200/201 cudaLaunchKernel 2000-2200 #7 cuda_runtime",
          thread + "cudaMemcpyAsync 3000-3100 #9 cuda_runtime",
          thread + "cudaMalloc 3200-3300 #10 cuda_runtime; returnValue=2",
          "100/device 0/7 void gemm<float>(float*) 2500-2900 #7 kernel; "
          "context=1; " +
              shape,
          "200/device 1/7 void gemm<float>(float*) 2600-2700 #7 kernel; "
          "context=1; graph node id=55; " +
              shape,
          "100/device 0/7 CUDA graph 12 6000-6500 #30 kernel; context=1",
          "100/device 0/8 Memcpy DtoH (Device -> Pinned) 3200-3300 #9 "
          "gpu_memcpy; context=1; bytes=4096; memory bandwidth (GB/s)=40.96",
          "100/device 0/7 Memset (Device) 3400-3410 #11 gpu_memset; context=1; "
          "bytes=64; memory bandwidth (GB/s)=6.4",
          "100/device 0/7 Stream Sync 3000-3500 #12 cuda_sync; context=1; "
          "wait_on_cuda_event_id=0"));
}

// A row of NVTX_EVENTS on the thread of process 100.
std::string Nvtx(const std::string& columns, const std::string& values) {
  return "INSERT INTO NVTX_EVENTS (start, end, globalTid, " + columns +
         ") VALUES (20, 30, " + Global(100, 101) + ", " + values + ")";
}

TEST(NsysRowsTest, EachPayloadHasItsColumn) {
  std::vector<std::string> statements = FullDatabase();
  std::vector<std::string> expected;
  int value = 7;
  for (const char* const column : {"uint64Value", "int64Value", "uint32Value",
                                   "int32Value", "doubleValue", "floatValue"}) {
    const bool is_integer = column[0] == 'u' || column[0] == 'i';
    const std::string number =
        std::to_string(value++) + (is_integer ? "" : ".5");
    statements.push_back(Nvtx(std::string("eventType, text, ") + column,
                              "59, '" + std::string(column) + "', " + number));
    expected.push_back("100/101 " + std::string(column) +
                       " 20-30 #0 nvtx_range; payload=" + number);
  }
  // Of several, the first in that order counts.
  statements.push_back(
      Nvtx("eventType, text, floatValue, int32Value", "59, 'two', 0.5, 3"));
  expected.push_back("100/101 two 20-30 #0 nvtx_range; payload=3");
  // A category without a name is its number; 0 is none.
  statements.push_back(Nvtx("eventType, text, category", "59, 'named', 5"));
  expected.push_back("100/101 named 20-30 #0 nvtx_range; category=5");
  statements.push_back(Nvtx("eventType, text, category", "59, 'none', 0"));
  expected.push_back("100/101 none 20-30 nvtx_range");
  EXPECT_THAT(TextsOfImport("payloads.sqlite", statements),
              IsSupersetOf(expected));
}

TEST(NsysRowsTest, TypesOfEventsHaveTheNumbersOfTheFile) {
  const auto names_of = [](const std::vector<std::string>& types) {
    std::vector<std::string> statements = {
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)",
        "CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER, name TEXT)",
        "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType "
        "INTEGER, text TEXT, globalTid INTEGER, domainId INTEGER, category "
        "INTEGER)",
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER)",
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (" +
            std::to_string(kSession) + ")"};
    for (const std::string& type : types) {
      statements.push_back("INSERT INTO ENUM_NSYS_EVENT_TYPE VALUES (" + type +
                           ")");
    }
    for (const int type : {33, 34, 59, 60, 70, 71, 75, 80, 81, 82, 83, 99}) {
      const std::string number = std::to_string(type);
      statements.push_back(Nvtx("eventType, text, domainId, category",
                                number + ", 'e" + number + "', 1, 2"));
    }
    return TextsOfImport("types.sqlite", statements);
  };
  const std::string usual = " #0 nvtx_range; domain=e75; category=e33";
  EXPECT_THAT(names_of({}),
              UnorderedElementsAre(
                  "100/101 e34 20-20 #0 cpu_instant_event; domain=e75; "
                  "category=e33",
                  "100/101 e59 20-30" + usual, "100/101 e60 20-30" + usual,
                  "100/101 e70 20-30" + usual, "100/101 e71 20-30" + usual));
  const std::string others = " #0 nvtx_range; domain=e82; category=e83";
  EXPECT_THAT(names_of({"1, 'NvtxMark'", "2, 'NvtxPushPopRange'",
                        "3, 'NvtxStartEndRange'", "80, 'NvtxtPushPopRange'",
                        "81, 'NvtxtStartEndRange'", "82, 'NvtxDomainCreate'",
                        "83, 'NvtxCategory'", "NULL, 'NvtxtPushPopRange'"}),
              UnorderedElementsAre("100/101 e80 20-30" + others,
                                   "100/101 e81 20-30" + others));
}

// A small export, with these statements behind its table of texts.
ImportedTrace ImportSmall(const std::string& name,
                          std::vector<std::string> statements) {
  statements.insert(
      statements.begin(),
      {"CREATE TABLE StringIds (id INTEGER, value TEXT)",
       "INSERT INTO StringIds VALUES (1, 'one'), (2, 'two'), (NULL, 'none')"});
  return ImportOrDie(*NewNsysImporter(), MakeDatabase(name, statements));
}

std::vector<std::string> SmallTexts(const std::string& name,
                                    const std::vector<std::string>& rows) {
  return TextsOf(TraceOf(ImportSmall(name, rows)));
}

// "RULE COUNT: MESSAGE".
std::vector<std::string> FindingsOf(const ImportedTrace& imported) {
  std::vector<std::string> texts;
  for (const ImportFinding& finding : imported.findings) {
    texts.push_back(finding.rule + " " + std::to_string(finding.count) + ": " +
                    finding.message);
  }
  return texts;
}

// Nsight Systems counts the kinds of memory from pageable = 0.
TEST(NsysRowsTest, KindsOfMemoryHaveTheirNames) {
  EXPECT_THAT(
      SmallTexts("kinds.sqlite",
                 {"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end)",
                  "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, "
                  "memKind)",
                  "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (10, 11, 0), "
                  "(20, 21, 1), (30, 31, 2), (40, 41, 3), (50, 51, 4), (60, "
                  "61, 5), (70, 71, 6), (80, 81, 7), (90, 91, -1), (100, 101, "
                  "NULL)"}),
      testing::ElementsAre("0/device 0/0 Memset (Pageable) 10-11 #0 gpu_memset",
                           "0/device 0/0 Memset (Pinned) 20-21 #0 gpu_memset",
                           "0/device 0/0 Memset (Device) 30-31 #0 gpu_memset",
                           "0/device 0/0 Memset (Array) 40-41 #0 gpu_memset",
                           "0/device 0/0 Memset (Managed) 50-51 #0 gpu_memset",
                           "0/device 0/0 Memset (Device Static) 60-61 #0 "
                           "gpu_memset",
                           "0/device 0/0 Memset (Managed Static) 70-71 #0 "
                           "gpu_memset",
                           "0/device 0/0 Memset (Unknown) 80-81 #0 gpu_memset",
                           "0/device 0/0 Memset (Unknown) 90-91 #0 gpu_memset",
                           "0/device 0/0 Memset (Unknown) 100-101 #0 "
                           "gpu_memset"));
}

TEST(NsysRowsTest, WorkThatNamesNoProcessIsOfTheOnlyOneThatCalls) {
  const auto work_of = [](const std::string& more_calls) {
    const std::vector<std::string> texts = SmallTexts(
        "only.sqlite",
        {"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, "
         "correlationId, nameId)",
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, " +
             Global(100, 101) + ", 5, 1), (3, 4, " + Global(100, 102) +
             ", 6, 1)" + more_calls,
         "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, streamId, "
         "correlationId, graphId)",
         "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (5, 6, 7, 5, "
         "NULL)"});
    for (const std::string& text : texts) {
      if (text.find("graph") != std::string::npos) return text;
    }
    return std::string();
  };
  EXPECT_EQ(work_of(""), "100/device 0/7 CUDA graph 0 5-6 #5 kernel");
  EXPECT_EQ(work_of(", (3, 4, " + Global(200, 101) + ", 7, 1)"),
            "0/device 0/7 CUDA graph 0 5-6 #5 kernel");
}

TEST(NsysRowsTest, CallsHaveTheirIdsAndNames) {
  EXPECT_THAT(
      SmallTexts("calls.sqlite",
                 {"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, "
                  "globalTid, correlationId, nameId, returnValue)",
                  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "
                  "(10, 11, " +
                      Global(1, 2) +
                      ", 1, 1, 1), "
                      "(20, 21, " +
                      Global(1, 2) +
                      ", 0, 2, NULL), "
                      "(30, 31, " +
                      Global(1, 2) +
                      ", -1, NULL, 0), "
                      "(40, 41, " +
                      Global(0xffffff, 0xffffff) + ", 9, 3, -1)"}),
      testing::ElementsAre(
          "1/2 one 10-11 #1 cuda_runtime; returnValue=1",
          "1/2 two 20-21 #0 cuda_runtime",
          "1/2 (no name) 30-31 #0 cuda_runtime",
          "16777215/16777215 string 3 40-41 #9 cuda_runtime; returnValue=-1"));
}

TEST(NsysRowsTest, KernelsHaveTheFirstNameThatThereIs) {
  EXPECT_THAT(
      SmallTexts("names.sqlite",
                 {"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, "
                  "demangledName, shortName)",
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 11, 1, "
                  "2), (20, 21, NULL, 2), (30, 31, NULL, NULL), (40, 41, 9, "
                  "2)"}),
      testing::ElementsAre("0/device 0/0 one 10-11 #0 kernel",
                           "0/device 0/0 two 20-21 #0 kernel",
                           "0/device 0/0 (no name) 30-31 #0 kernel",
                           "0/device 0/0 string 9 40-41 #0 kernel"));
}

TEST(NsysRowsTest, TheFirstStartOfASessionThatCanBeCounts) {
  const auto start_of = [](const std::string& starts) {
    return TraceOf(
               ImportSmall(
                   "clock.sqlite",
                   {"CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs)",
                    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES " +
                        starts,
                    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end)",
                    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 11)"}))
        .start()[0];
  };
  EXPECT_EQ(start_of("(1000), (2000)"), 1010);
  EXPECT_EQ(start_of("(NULL), (-1), (4611686018427387904), (2000)"), 2010);
  // 2^62 - 1 is the last time; then nothing can come.
  EXPECT_EQ(start_of("(4611686018427387890), (2000)"), 4611686018427387900);
  EXPECT_EQ(start_of("(0), (2000)"), 10);
}

TEST(NsysRowsTest, VersionsOtherThanTwoAndThreeAreAWarning) {
  const auto findings_of = [](const std::string& rows) {
    ImportedTrace imported = ImportSmall(
        "version.sqlite",
        {"CREATE TABLE META_DATA_EXPORT (name, value)",
         "INSERT INTO META_DATA_EXPORT VALUES " + rows,
         "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs)",
         "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (0)",
         "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end)",
         "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1, 2)",
         "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start)",
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1)"});
    std::string texts;
    for (const std::string& text : FindingsOf(imported)) {
      if (text.starts_with("schema")) texts += text;
    }
    const model::TraceShard& shard = imported.shards[0];
    for (const model::Metadata& entry : shard.metadata) {
      texts += "|" + std::string(shard.strings.Get(entry.key)) + "=" +
               std::string(shard.strings.Get(entry.json_value));
    }
    return texts;
  };
  const std::string key = "|nsys schema version=";
  EXPECT_EQ(findings_of("('EXPORT_SCHEMA_VERSION', '2.7.1')"),
            key + "\"2.7.1\"");
  EXPECT_EQ(findings_of("('EXPORT_SCHEMA_VERSION_MAJOR', '3'), "
                        "('EXPORT_SCHEMA_VERSION_MINOR', '9')"),
            key + "\"3\"");
  EXPECT_EQ(findings_of("('EXPORT_SCHEMA_VERSION_MAJOR', '4'), "
                        "('EXPORT_SCHEMA_VERSION', '3.1')"),
            key + "\"3.1\"");
  EXPECT_EQ(findings_of("('EXPORT_SCHEMA_VERSION', '3.1'), "
                        "('EXPORT_SCHEMA_VERSION_MAJOR', '4')"),
            key + "\"3.1\"");
  EXPECT_EQ(findings_of("('EXPORT_TOOL', '4')"), "");
  EXPECT_EQ(findings_of("('EXPORT_SCHEMA_VERSION', '20.1')"),
            "schema_unknown 1: the schema has version 20.1, but only 2 and 3 "
            "are known: tables may be misread" +
                key + "\"20.1\"");
}

TEST(NsysRowsTest, HostProcessesAndThreadsHaveTheirNames) {
  const ImportedTrace imported = ImportSmall(
      "host.sqlite",
      {"CREATE TABLE OSRT_API (start)", "CREATE TABLE TARGET_INFO_GPU (id)",
       "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name, value)",
       "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Kernel', '6.1'), "
       "('Hostname', 'a'), ('Hostname', 'b')",
       "CREATE TABLE PROCESSES (globalPid, name)",
       "INSERT INTO PROCESSES VALUES (NULL, 'x'), (" + Global(5, 0) +
           ", 'app')",
       "CREATE TABLE ThreadNames (nameId, globalTid)",
       "INSERT INTO ThreadNames VALUES (1, NULL), (NULL, " + Global(5, 6) +
           "), (2, " + Global(5, 7) + ")"});
  const model::TraceShard& shard = imported.shards[0];
  ASSERT_EQ(shard.metadata.size(), 1u);
  EXPECT_EQ(shard.strings.Get(shard.metadata[0].key), "host name");
  EXPECT_EQ(shard.strings.Get(shard.metadata[0].json_value), "\"a\"");
  ASSERT_EQ(shard.processes.size(), 1u);
  EXPECT_EQ(shard.processes[0].pid, 5);
  EXPECT_EQ(shard.strings.Get(shard.processes[0].name), "app");
  ASSERT_EQ(shard.tracks.size(), 1u);
  EXPECT_EQ(shard.tracks[0].id, 7);
  EXPECT_EQ(shard.strings.Get(shard.tracks[0].name), "two");
}

TEST(NsysRowsTest, WhatAReaderWouldMissIsSaid) {
  const std::string kernels =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS end";
  const std::string graphs =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE AS SELECT 1 AS start, 2 AS "
      "end";
  const std::string calls =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME AS SELECT 1 AS start, 2 AS "
      "end, 0 AS globalTid, 1 AS nameId";
  const auto rules_of = [](std::vector<std::string> statements) {
    statements.emplace_back("CREATE TABLE META_DATA_EXPORT (name, value)");
    statements.emplace_back(
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME AS SELECT 0 AS "
        "utcEpochNs");
    std::string rules;
    for (const std::string& text :
         FindingsOf(ImportSmall("missed.sqlite", statements))) {
      if (!text.starts_with("string_missing")) {
        rules += text.substr(0, text.find(' ')) + " ";
      }
    }
    return rules;
  };
  EXPECT_EQ(rules_of({}), "no_device_work ");
  EXPECT_EQ(rules_of({calls}), "no_device_work ");
  EXPECT_EQ(rules_of({kernels}), "no_calls ");
  EXPECT_EQ(rules_of({graphs}), "no_calls ");
  EXPECT_EQ(rules_of({graphs, calls}), "");
  EXPECT_EQ(rules_of({kernels, calls}), "");
  EXPECT_EQ(FindingsOf(ImportSmall(
                "tables.sqlite",
                {kernels, calls, "CREATE TABLE OSRT_API (start)",
                 "CREATE TABLE GPU_METRICS AS SELECT 1 UNION SELECT 2",
                 "CREATE TABLE MPI_P2P_EVENTS AS SELECT 1",
                 "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs)"})),
            (std::vector<std::string>{
                "no_session_start 1: times count from the start of the "
                "session: when that was is not in the file",
                "string_missing 1: a name is not in StringIds: (no name)",
                "table_not_read 3: GPU_METRICS and the like are not read"}));
}

}  // namespace
}  // namespace kymo
