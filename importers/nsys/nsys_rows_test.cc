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

}  // namespace
}  // namespace kymo
