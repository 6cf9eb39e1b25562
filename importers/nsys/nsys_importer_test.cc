#include "importers/nsys/nsys_importer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "importers/nsys/test_nsys_database.h"
#include "importers/sqlite/test_database.h"

namespace kymo {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::Trace;
using nsys::FullDatabase;
using nsys::Global;
using nsys::kSession;
using sqlite::EventNamed;
using sqlite::FindRule;
using sqlite::ImportOrDie;
using sqlite::IntArg;
using sqlite::MakeDatabase;
using sqlite::TextArg;
using sqlite::TraceOf;

Trace Import(const std::string& name,
             const std::vector<std::string>& statements) {
  return TraceOf(
      ImportOrDie(*NewNsysImporter(), MakeDatabase(name, statements)));
}

const model::Track& TrackOf(const Trace& trace, EventIndex event) {
  return trace.tracks()[trace.track()[event]];
}

TEST(NsysImporterTest, RangesHaveTextDomainCategoryAndPayload) {
  const Trace trace = Import("nvtx.sqlite", FullDatabase());
  const EventIndex outer = EventNamed(trace, "outer");
  EXPECT_EQ(trace.type()[outer], ActivityType::kNvtxRange);
  EXPECT_EQ(trace.start()[outer], kSession + 1000);
  EXPECT_EQ(trace.end()[outer], kSession + 9000);
  EXPECT_EQ(TrackOf(trace, outer).pid, 100);
  EXPECT_EQ(TrackOf(trace, outer).id, 101);
  EXPECT_EQ(TextArg(trace, outer, "domain"), "my domain");
  EXPECT_EQ(TextArg(trace, outer, "category"), "io");
  EXPECT_EQ(IntArg(trace, outer, "payload"), 42);

  const EventIndex inner = EventNamed(trace, "registered");
  EXPECT_EQ(trace.parent()[inner], outer);
  ASSERT_EQ(trace.args(inner).size(), 1u);
  EXPECT_EQ(trace.args(inner)[0].double_value(), 0.5);

  EXPECT_TRUE(trace.flags()[EventNamed(trace, "across")] & model::kEventAsync);
  EXPECT_EQ(trace.parent()[EventNamed(trace, "mark")], inner);
  EXPECT_EQ(trace.type()[EventNamed(trace, "mark")],
            ActivityType::kCpuInstantEvent);
  EXPECT_TRUE(trace.flags()[EventNamed(trace, "open")] & model::kEventOpen);
}

TEST(NsysImporterTest, JoinsWorkToCallsByIdAndProcess) {
  const Trace trace = Import("join.sqlite", FullDatabase());
  int kernels = 0;
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    if (trace.EventName(i) != "void gemm<float>(float*)") continue;
    ++kernels;
    EXPECT_EQ(trace.detail(i)->correlation_id, 7u);
    const bool is_first = TrackOf(trace, i).pid == 100;
    EXPECT_EQ(TrackOf(trace, i).device_index, is_first ? 0 : 1);
    EXPECT_EQ(trace.end()[i] - trace.start()[i], is_first ? 400 : 100);
    EXPECT_EQ(IntArg(trace, i, "graph node id").value_or(0), is_first ? 0 : 55);
    EXPECT_EQ(TextArg(trace, i, "grid"), "[8, 1, 1]");
    EXPECT_EQ(IntArg(trace, i, "shared memory"), 2048);
  }
  EXPECT_EQ(kernels, 2);
  const EventIndex call = EventNamed(trace, "cudaLaunchKernel");
  EXPECT_EQ(trace.type()[call], ActivityType::kCudaRuntime);
  EXPECT_EQ(trace.detail(call)->correlation_id, 7u);
  EXPECT_EQ(trace.EventName(trace.parent()[call]), "registered");
  const EventIndex driver = EventNamed(trace, "cuLaunchKernel");
  EXPECT_EQ(trace.type()[driver], ActivityType::kCudaDriver);
  EXPECT_EQ(trace.parent()[driver], call);
  EXPECT_EQ(IntArg(trace, EventNamed(trace, "cudaMalloc"), "returnValue"), 2);
}

TEST(NsysImporterTest, ReadsCopiesSetsSyncsAndGraphs) {
  const Trace trace = Import("work.sqlite", FullDatabase());
  const EventIndex copy = EventNamed(trace, "Memcpy DtoH (Device -> Pinned)");
  EXPECT_EQ(trace.type()[copy], ActivityType::kGpuMemcpy);
  EXPECT_EQ(IntArg(trace, copy, "bytes"), 4096);
  EXPECT_EQ(trace.detail(copy)->correlation_id, 9u);
  EXPECT_EQ(trace.type()[EventNamed(trace, "Memset (Device)")],
            ActivityType::kGpuMemset);
  EXPECT_EQ(trace.type()[EventNamed(trace, "Stream Sync")],
            ActivityType::kCudaSync);
  EXPECT_EQ(trace.type()[EventNamed(trace, "CUDA graph 12")],
            ActivityType::kConcurrentKernel);
  EXPECT_EQ(trace.ledger().Get(model::Loss::kRangesOverlapping), 0u);
}

TEST(NsysImporterTest, MemoryOfTheDeviceAddsUp) {
  const Trace trace = Import("memory.sqlite", FullDatabase());
  ASSERT_EQ(trace.memory().size(), 3u);
  std::vector<int64_t> bytes;
  std::vector<int64_t> totals;
  for (const model::MemoryRecord& record : trace.memory()) {
    EXPECT_EQ(record.device_type, 1);
    EXPECT_EQ(record.device_index, 0);
    bytes.push_back(record.bytes);
    totals.push_back(record.total_allocated);
  }
  // By track. The calling thread is known for the first two only. The third
  // goes by the process's number, which is the smaller one.
  EXPECT_EQ(bytes, (std::vector<int64_t>{-1000, 1000, 500}));
  EXPECT_EQ(totals, (std::vector<int64_t>{500, 1000, 1500}));
}

// What the records of memory hold: type and number of the device, the change,
// and the bytes that are allocated after it. In the order of time.
struct Held {
  int device_type;
  int device_index;
  int64_t bytes;
  int64_t total;
  bool operator==(const Held&) const = default;
};

std::vector<Held> MemoryOf(const std::string& columns,
                           const std::vector<std::string>& rows) {
  std::vector<std::string> statements = {
      "CREATE TABLE StringIds (id, value)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end)",
      "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (" + columns + ")"};
  for (const std::string& row : rows) {
    statements.push_back("INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (" +
                         row + ")");
  }
  const Trace trace = Import("devices.sqlite", statements);
  std::vector<model::MemoryRecord> records(trace.memory().begin(),
                                           trace.memory().end());
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  std::vector<Held> held;
  for (const model::MemoryRecord& record : records) {
    held.push_back({record.device_type, record.device_index, record.bytes,
                    record.total_allocated});
  }
  return held;
}

TEST(NsysImporterTest, MemoryAddsUpByDeviceAndByProcess) {
  const std::string a = Global(100, 0);
  const std::string b = Global(200, 0);
  EXPECT_EQ(
      MemoryOf("start, globalPid, deviceId, bytes, memKind, "
               "memoryOperationType",
               {"10, " + a + ", 0, 1000, 2, 0", "11, " + a + ", 1, 20, 2, 0",
                "12, " + b + ", 1, 300, 2, 0", "13, " + a + ", 1, 20, 2, 1",
                "14, " + a + ", 0, 1, 2, 0"}),
      (std::vector<Held>{{1, 0, 1000, 1000},
                         {1, 1, 20, 20},
                         {1, 1, 300, 300},
                         {1, 1, -20, 0},
                         {1, 0, 1, 1001}}));
}

TEST(NsysImporterTest, MemoryOfTheHostIsOfNoDevice) {
  // memKind: 0 is pageable, 1 is pinned, 2 is the device's, 3 is an array.
  EXPECT_EQ(MemoryOf("start, deviceId, bytes, memKind, memoryOperationType",
                     {"10, 3, 8, 0, 0", "11, 3, 8, 1, 0", "12, 3, 8, 2, 0",
                      "13, 3, 8, 3, 0"}),
            (std::vector<Held>{
                {0, -1, 8, 8}, {0, -1, 8, 16}, {1, 3, 8, 8}, {1, 3, 8, 16}}));
}

TEST(NsysImporterTest, MemoryWithoutADeviceIsOfTheFirst) {
  EXPECT_EQ(MemoryOf("start, bytes, memoryOperationType", {"10, 8, 0"}),
            (std::vector<Held>{{1, 0, 8, 8}}));
  // A number that no device has.
  EXPECT_EQ(
      MemoryOf("start, deviceId, bytes, memoryOperationType",
               {"10, 127, 8, 0", "11, 128, 8, 0", "12, -2, 8, 0"}),
      (std::vector<Held>{{1, 127, 8, 8}, {1, 127, 8, 16}, {1, -1, 8, 8}}));
}

TEST(NsysImporterTest, MemoryThatCannotBeIsLeftOut) {
  EXPECT_EQ(MemoryOf("start, bytes, memoryOperationType",
                     {"10, -1, 0", "NULL, 8, 0", "12, NULL, 0", "13, 0, 0"}),
            (std::vector<Held>{{1, 0, 0, 0}}));
}

TEST(NsysImporterTest, NamesAndMetadata) {
  ImportedTrace imported = ImportOrDie(
      *NewNsysImporter(), MakeDatabase("names.sqlite", FullDatabase()));
  EXPECT_TRUE(imported.findings.empty()) << imported.findings[0].message;
  const Trace trace = TraceOf(std::move(imported));
  EXPECT_EQ(trace.Name(TrackOf(trace, EventNamed(trace, "outer")).name),
            "worker");
  ASSERT_EQ(trace.processes().size(), 1u);
  EXPECT_EQ(trace.Name(trace.processes()[0].name), "train");
  std::vector<std::string> metadata;
  for (const model::Metadata& entry : trace.metadata()) {
    metadata.push_back(std::string(trace.Name(entry.key)) + "=" +
                       std::string(trace.Name(entry.json_value)));
  }
  EXPECT_EQ(metadata,
            (std::vector<std::string>{
                R"(deviceProperties=[{"id": 0, "name": "H100", )"
                R"("totalGlobalMem": 85899345920, "computeMajor": 9, )"
                R"("computeMinor": 0, "numSms": 132}])",
                R"(host name="node-1")", R"(nsys schema version="3.16.1")"}));
}

TEST(NsysImporterTest, AnOldOrSmallExportSaysWhatIsMissing) {
  ImportedTrace imported = ImportOrDie(
      *NewNsysImporter(),
      MakeDatabase(
          "old.sqlite",
          {"CREATE TABLE StringIds (id INTEGER, value TEXT)",
           "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType "
           "INTEGER, text TEXT, globalTid INTEGER)",
           "INSERT INTO NVTX_EVENTS VALUES (0, 10, 59, 'step', " +
               Global(1, 2) + ")",
           "CREATE TABLE OSRT_API (start INTEGER)",
           "INSERT INTO OSRT_API VALUES (1), (2)",
           "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)",
           "INSERT INTO META_DATA_EXPORT VALUES "
           "('EXPORT_SCHEMA_VERSION_MAJOR', '4'), "
           "('EXPORT_SCHEMA_VERSION_MINOR', '1')"}));
  for (const char* rule : {"no_session_start", "no_device_work",
                           "table_not_read", "schema_unknown"}) {
    EXPECT_NE(FindRule(imported.findings, rule), nullptr) << rule;
  }
  EXPECT_EQ(FindRule(imported.findings, "table_not_read")->count, 2u);
  const Trace trace = TraceOf(std::move(imported));
  ASSERT_EQ(trace.event_count(), 1u);
  EXPECT_EQ(trace.start()[0], 0);
  EXPECT_EQ(trace.end()[0], 10);
}

TEST(NsysImporterTest, AMissingColumnCostsItsTableOnly) {
  ImportedTrace imported = ImportOrDie(
      *NewNsysImporter(),
      MakeDatabase(
          "column.sqlite",
          {"CREATE TABLE StringIds (id INTEGER, value TEXT)",
           "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end "
           "INTEGER, shortName INTEGER)",
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 1)",
           "INSERT INTO StringIds VALUES (1, 'gemm')",
           "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end "
           "INTEGER, globalTid INTEGER)",
           "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 3)",
           "CREATE TABLE NVTX_EVENTS (start INTEGER, eventType INTEGER)"}));
  const ImportFinding* const finding =
      FindRule(imported.findings, "column_missing");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->message,
            "CUPTI_ACTIVITY_KIND_RUNTIME has no column nameId: its rows cannot "
            "be read");
  // NVTX_EVENTS is read twice.
  EXPECT_TRUE(
      std::ranges::any_of(imported.findings, [](const ImportFinding& other) {
        return other.count == 1 &&
               other.message ==
                   "NVTX_EVENTS has no column globalTid: its rows cannot be "
                   "read";
      }));
  const Trace trace = TraceOf(std::move(imported));
  ASSERT_EQ(trace.event_count(), 1u);
  EXPECT_EQ(trace.EventName(0), "gemm");
}

TEST(NsysImporterTest, NullsTextsAndHugeNumbersAreNoTrouble) {
  std::vector<std::string> statements = {"CREATE TABLE StringIds (id, value)"};
  for (
      const char* table :
      {"NVTX_EVENTS (start, end, eventType, text, globalTid, textId, domainId, "
       "category, uint64Value)",
       "CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, "
       "nameId, returnValue)",
       "CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, "
       "correlationId, globalPid, demangledName, shortName, gridX, gridY, "
       "gridZ)",
       "CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, bytes, "
       "copyKind, srcKind, dstKind)",
       "CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, bytes, memKind)",
       "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, syncType, eventId)",
       "CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, address, "
       "bytes, memKind, memoryOperationType)",
       "TARGET_INFO_SESSION_START_TIME (utcEpochNs)",
       "TARGET_INFO_GPU (id, name, totalMemory)", "PROCESSES (globalPid, name)",
       "ThreadNames (nameId, globalTid)", "ENUM_NSYS_EVENT_TYPE (id, name)"}) {
    const std::string text = table;
    const std::string name = text.substr(0, text.find(' '));
    statements.push_back("CREATE TABLE " + text);
    statements.push_back("INSERT INTO " + name + " DEFAULT VALUES");
    const size_t columns =
        1 + static_cast<size_t>(std::count(text.begin(), text.end(), ','));
    for (const char* value :
         {"'text'", "9223372036854775807", "-9223372036854775808", "-1", "0",
          "1", "59", "x'ff'", "1e300"}) {
      std::string row = value;
      for (size_t i = 1; i < columns; ++i) row += std::string(", ") + value;
      statements.push_back("INSERT INTO " + name + " VALUES (" + row + ")");
    }
  }
  ImportedTrace imported =
      ImportOrDie(*NewNsysImporter(), MakeDatabase("odd.sqlite", statements));
  EXPECT_NE(FindRule(imported.findings, "wrong_type"), nullptr);
  EXPECT_NE(FindRule(imported.findings, "time_impossible"), nullptr);
  const Trace trace = TraceOf(std::move(imported));
  EXPECT_GT(trace.ledger().Get(model::Loss::kRecordsCorrupt), 0u);
}

TEST(NsysImporterTest, OtherDatabasesAreRefusedWithTheirTables) {
  const auto importer = NewNsysImporter();
  const std::string path =
      MakeDatabase("other.sqlite", {"CREATE TABLE songs (title)"});
  EXPECT_TRUE(importer->Recognizes(sqlite::ReadFile(path)));
  const absl::Status status = importer->Import(path, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("the tables here: songs"),
            absl::string_view::npos)
      << status;
  EXPECT_FALSE(importer->Recognizes("[{\"ph\": \"X\"}]"));
}

TEST(NsysImporterTest, AnExportHasTextsAndOneOfTheKnownTables) {
  const auto importer = NewNsysImporter();
  const auto is_export = [&](const std::vector<std::string>& statements) {
    return importer->Import(MakeDatabase("known.sqlite", statements), {}).ok();
  };
  const std::string texts = "CREATE TABLE StringIds (id, value)";
  for (const char* const table :
       {"NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_KERNEL",
        "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_MEMCPY", "OSRT_API",
        "META_DATA_EXPORT"}) {
    const std::string known = std::string("CREATE TABLE ") + table + " (x)";
    EXPECT_TRUE(is_export({texts, known})) << table;
    EXPECT_FALSE(is_export({known})) << table;
  }
  EXPECT_FALSE(is_export({texts}));
  EXPECT_FALSE(is_export({}));
  const std::string sqlite("SQLite format 3\0", 16);
  EXPECT_TRUE(importer->Recognizes(sqlite + "StringTable"));
  EXPECT_TRUE(importer->Recognizes(sqlite + "_id_"));
  EXPECT_FALSE(importer->Recognizes(sqlite + "StringTable _id_"));
  EXPECT_FALSE(importer->Recognizes("SQLite format 2 NVTX_EVENTS"));
}

TEST(NsysImporterTest, ProgressIsToldStepByStep) {
  std::vector<double> told;
  ImportOptions options;
  options.progress = [&](double done) { told.push_back(done); };
  const auto imported = NewNsysImporter()->Import(
      MakeDatabase("progress.sqlite", FullDatabase()), options);
  ASSERT_TRUE(imported.ok()) << imported.status();
  ASSERT_EQ(told.size(), 6u);
  for (int i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(told[i], (i + 1) / 6.0);
}

TEST(NsysImporterTest, MutatedFilesNeitherCrashNorHang) {
  sqlite::ImportMutations(*NewNsysImporter(),
                          MakeDatabase("mutate.sqlite", FullDatabase()));
}

}  // namespace
}  // namespace kymo
