#include "profiler/tables/trace_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "profiler/tables/test_tables.h"
#include "tests/support/test_trace.h"

namespace kymo::tables {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TraceTablesTest : public ::testing::Test {
 protected:
  std::vector<std::string> Rows(
      std::string_view table,
      std::initializer_list<std::string_view> columns = {}) const {
    return RowsOf(tables_, table, columns);
  }

  const model::Trace trace_ = SmallTrace();
  const TraceTables tables_{trace_};
};

TEST_F(TraceTablesTest, TheTraceIsValid) {
  const absl::Status valid = ValidateTrace(trace_);
  EXPECT_TRUE(valid.ok()) << valid;
}

TEST_F(TraceTablesTest, EventsHaveTheirPlaceInTheTree) {
  EXPECT_THAT(
      Rows("events",
           {"id", "track_id", "parent_id", "depth", "name", "category"}),
      ElementsAre(
          "0|0|-|0|ProfilerStep#3|user_annotation", "1|0|0|1|aten::mm|cpu_op",
          "2|0|1|2|cudaLaunchKernel|cuda_runtime", "3|0|0|1|aten::mm|cpu_op",
          "4|0|-|0|mark|cpu_instant_event", "5|1|-|0|load|cpu_op",
          "6|2|-|0|gemm|kernel", "7|2|-|0|Memcpy HtoD|gpu_memcpy"));
}

TEST_F(TraceTablesTest, EventsHaveTimesAndTheStepThatLaunchedThem) {
  EXPECT_THAT(Rows("events", {"start_ns", "dur_ns", "self_ns", "step"}),
              ElementsAre("1000|900|400|3", "1100|400|350|3", "1200|50|50|3",
                          "1600|100|100|3", "1950|0|0|3", "1000|2000|2000|3",
                          "1300|500|500|3", "1900|100|100|3"));
}

TEST_F(TraceTablesTest, EventsHaveThreadsOrDevices) {
  EXPECT_THAT(Rows("events", {"pid", "tid", "device", "stream", "is_instant",
                              "is_open", "calls"}),
              ElementsAre("7|7|-|-|0|0|1", "7|7|-|-|0|0|1", "7|7|-|-|0|0|1",
                          "7|7|-|-|0|0|1", "7|7|-|-|1|0|1", "7|8|-|-|0|1|1",
                          "7|-|0|13|0|0|1", "7|-|0|13|0|0|1"));
}

TEST_F(TraceTablesTest, EventsHaveDetails) {
  EXPECT_THAT(
      Rows("events", {"correlation_id", "sequence_nr", "overload_name",
                      "input_shapes", "input_types", "stack_id", "flops"}),
      ElementsAre("-|-|-|-|-|-|0",
                  R"(-|9|-|[[2, 3], [3, 4]]|["float", "float"]|2|48)",
                  "5|-|-|-|-|-|0", "-|-|out|-|-|-|0", "-|-|-|-|-|-|0",
                  "-|-|-|-|-|-|0", "5|-|-|-|-|-|0", "6|-|-|-|-|-|0"));
}

TEST_F(TraceTablesTest, EventsHaveMemoryAndWaits) {
  const std::vector<std::string> rows =
      Rows("events", {"wait_ns", "cpu_memory_bytes", "device_memory_bytes"});
  EXPECT_EQ(rows[1], "60|100|0");
  EXPECT_EQ(rows[3], "0|0|0");
  EXPECT_EQ(rows[5], "0|0|4096");
  EXPECT_EQ(rows[6], "-|0|0");
}

TEST_F(TraceTablesTest, Tracks) {
  EXPECT_THAT(Rows("tracks"), ElementsAre("0|thread|0|0|7|7|-|-|0|main|-|5",
                                          "1|thread|0|1|7|8|-|-|0|worker|-|1",
                                          "2|stream|0|-|7|-|0|13|0|-|-|2"));
}

TEST_F(TraceTablesTest, Processes) {
  EXPECT_THAT(Rows("processes"), ElementsAre("0|7|1|app|app|900|-"));
}

TEST_F(TraceTablesTest, Threads) {
  EXPECT_THAT(
      Rows("threads"),
      ElementsAre("0|0|0|7|7|main|-|1000|3000|2000|1500|100|350|50|90|whole|4|"
                  "1|11|2|3|400|5|60|7|8|-|2|1|164",
                  "1|0|1|7|8|worker|-|-|-|2000|10|0|1990|0|0|preemptions|0|0|"
                  "-|-|-|-|-|-|-|-|0|-|-|-"));
}

TEST_F(TraceTablesTest, NamesHaveCountsOfEvents) {
  const std::vector<std::string> rows = Rows("names", {"name", "event_count"});
  EXPECT_THAT(rows, ::testing::Contains("aten::mm|2"));
  EXPECT_THAT(rows, ::testing::Contains("queue.cc:7|0"));
  EXPECT_EQ(rows.size(), trace_.strings().size());
}

TEST_F(TraceTablesTest, ArgsOfEachType) {
  EXPECT_THAT(Rows("args"),
              ElementsAre("0|2|ratio|double|-|0.5|-", "1|2|how|string|-|-|fast",
                          "2|2|grid|json|-|-|[1, 2]", "3|7|bytes|int|64|-|-"));
}

TEST_F(TraceTablesTest, Counters) {
  EXPECT_THAT(Rows("counters"),
              ElementsAre("0|0|loss|1500|0.25", "1|0|loss|1700|0.125"));
}

TEST_F(TraceTablesTest, SamplesAndThenSums) {
  EXPECT_THAT(Rows("samples", {"id", "track_id", "time_ns", "function", "count",
                               "weight_ns"}),
              ElementsAre("0|0|1410|mm|1|1000", "1|1|1420|work|1|2000",
                          "2|0|-|mm|1|1000"));
}

TEST_F(TraceTablesTest, StacksAndFrames) {
  EXPECT_THAT(Rows("stacks").front(), "0|-|-|0");
  EXPECT_THAT(Rows("stacks")[2], "2|1|1|2");
  EXPECT_THAT(Rows("frames").front(), "0|main|-|-|/bin/app|-|0|0|1");
}

TEST_F(TraceTablesTest, Memory) {
  EXPECT_THAT(Rows("memory",
                   {"id", "track_id", "time_ns", "kind", "source",
                    "device_type", "device", "bytes", "weight", "partner_id"}),
              ElementsAre("0|0|1120|allocation|heap|CPU|-|64|1|2",
                          "1|0|1130|allocation|heap|CPU|-|100|1|-",
                          "2|0|1140|free|heap|CPU|-|-64|1|0",
                          "3|1|1150|allocation|reported|CUDA|0|4096|1|-"));
}

TEST_F(TraceTablesTest, AllocationsByStack) {
  EXPECT_THAT(Rows("allocations_by_stack",
                   {"pid", "source", "device_type", "device", "allocations",
                    "allocated_bytes", "alive", "alive_bytes"}),
              ElementsAre("7|reported|CUDA|0|1|4096|1|4096",
                          "7|heap|CPU|-|2|164|1|100"));
}

TEST_F(TraceTablesTest, WaitsAndThenSums) {
  EXPECT_THAT(Rows("waits", {"id", "track_id", "kind", "start_ns", "dur_ns",
                             "count", "longest_ns", "runnable_ns", "is_open",
                             "is_idle", "event_id", "object", "object_name",
                             "waker_track_id", "holder_track_id"}),
              ElementsAre("0|0|lock|1110|60|1|60|10|0|0|1|2748|queue.cc:7|1|1",
                          "1|1|sleep|-|30|3|20|-|0|-|-|-|-|-|-"));
  for (const std::string& row :
       Rows("waits", {"stack_id", "waker_stack_id", "holder_stack_id"})) {
    EXPECT_THAT(row, HasSubstr("|"));
  }
}

TEST_F(TraceTablesTest, DeviceWorkKnowsItsLaunch) {
  EXPECT_THAT(
      Rows("device_work"),
      ElementsAre("0|6|compute|gemm|7|0|13|1300|500|3|2|1|50|-|1",
                  "1|7|memory|Memcpy HtoD|7|0|13|1900|100|3|-|-|-|64|1"));
}

TEST_F(TraceTablesTest, Steps) {
  EXPECT_THAT(Rows("steps"), ElementsAre("0|7|3|0|1000|900"));
}

TEST(StepsTableTest, WhatComesWithoutAStepIsNoPartOfOne) {
  TestTrace t;
  t.AddProcess(7, "app");
  const auto main = t.AddThread(7, 7, "main");
  t.AddRange(main, "ProfilerStep#0", 100, 190);
  t.AddRange(main, "ProfilerStep#1", 200, 290);
  t.AddRange(main, "nobody recorded steps 2 to 7", 300, 800);
  t.AddRange(main, "ProfilerStep#8", 800, 890);
  t.AddRange(main, "checkpoint", 900, 9'000);
  t.SetWindow(0, 9'000);
  const model::Trace trace = std::move(t).Build();
  EXPECT_THAT(RowsOf(TraceTables(trace), "steps", {"step", "dur_ns"}),
              ElementsAre("0|100", "1|90", "8|90"));
}

TEST_F(TraceTablesTest, LedgerHasWhatIsNotZero) {
  EXPECT_THAT(Rows("ledger", {"name", "count", "is_loss"}),
              ::testing::UnorderedElementsAre("samples_lost|2|1",
                                              "samples_summed|1|0"));
}

TEST_F(TraceTablesTest, AProgramWithACpuLimitHasARow) {
  EXPECT_THAT(Rows("cpu_limits"), ElementsAre("1.5|150|100|9|4|70"));
}

TEST_F(TraceTablesTest, MetadataAndRanks) {
  EXPECT_EQ(Rows("metadata").back(), "hostname|\"node7\"");
  EXPECT_THAT(Rows("ranks"), ElementsAre("3|8|-|nccl|node7|1000|3000|70"));
}

void AddRank(TestTrace& t, int64_t pid, int64_t rank, std::string_view host,
             std::string_view instant) {
  t.AddInstant(t.AddThread(pid, pid, "main"), instant, 1000);
  t.Describe(0, {model::Arg::Int(t.Intern("rank"), rank),
                 model::Arg::Int(t.Intern("size"), 3),
                 model::Arg::String(t.Intern("host"), t.Intern(host))});
}

TEST(RanksTableTest, ATraceOfSeveralRanksHasARowForEach) {
  TestTrace t;
  AddRank(t, 7, 2, "node8", "MPI ranks");
  AddRank(t, 8, 0, "node7", "job rank");
  AddRank(t, 9, 1, "node7", "MPI ranks");
  // That of the first trace that was merged.
  t.AddMetadata("distributedInfo", R"({"rank": 0, "local_rank": 5})");
  t.AddMetadata("hostname", R"("node7")");
  const model::Trace trace = std::move(t).Build();
  EXPECT_THAT(
      RowsOf(TraceTables(trace), "ranks",
             {"rank", "world_size", "local_rank", "launcher", "host"}),
      ElementsAre("0|3|5|-|node7", "1|3|-|mpi|node7", "2|3|-|mpi|node8"));
}

// Readers of chunks and of single rows see the same.
TEST_F(TraceTablesTest, ChunksHaveTheValuesOfRows) {
  for (const Table& table : AllTables()) {
    const size_t count = tables_.RowCount(table);
    for (const Column& column : table.columns) {
      const auto all = ValuesOf(tables_, column, 0, count);
      for (size_t row = 0; row < count; ++row) {
        EXPECT_EQ(ValuesOf(tables_, column, row, row + 1).front(), all[row])
            << table.name << "." << column.name;
        EXPECT_TRUE(column.is_nullable || all[row] != "-")
            << table.name << "." << column.name << " is NULL";
      }
    }
  }
}

TEST_F(TraceTablesTest, TextsAreBelowTheirCount) {
  for (const Table& table : AllTables()) {
    std::vector<TextId> ids(tables_.RowCount(table));
    for (const Column& column : table.columns) {
      if (column.type != ColumnType::kText) continue;
      tables_.Texts(column, 0, ids.size(), ids.data());
      for (const TextId id : ids) {
        EXPECT_TRUE(id == kNoText || Index(id) < tables_.text_count());
      }
    }
  }
}

// A row that references another names one that is there.
TEST_F(TraceTablesTest, ReferencesHold) {
  for (const Table& table : AllTables()) {
    const size_t count = tables_.RowCount(table);
    for (const Column& column : table.columns) {
      if (column.references.empty()) continue;
      const Table& other =
          *FindTable(column.references.substr(0, column.references.find('.')));
      for (const std::string& value : ValuesOf(tables_, column, 0, count)) {
        if (value == "-") continue;
        EXPECT_LT(std::stoul(value), tables_.RowCount(other))
            << table.name << "." << column.name;
      }
    }
  }
}

void ExpectEmptyColumnsHaveNoValue(const TraceTables& tables) {
  for (const Table& table : AllTables()) {
    const size_t rows = tables.RowCount(table);
    for (const Column& column : table.columns) {
      if (!tables.IsEmpty(column)) continue;
      EXPECT_TRUE(column.is_nullable) << column.name;
      EXPECT_THAT(ValuesOf(tables, column, 0, rows), Each("-"))
          << table.name << "." << column.name;
    }
  }
}

TEST(EmptyColumnsTest, HaveNoValue) {
  const model::Trace full = SmallTrace();
  ExpectEmptyColumnsHaveNoValue(TraceTables(full));

  // One event has one member of a detail: only that column has values.
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "plain", 0, 1);
  t.AddRange(main, "forward", 2, 3);
  t.Describe(0);
  t.data().details.back().sequence_nr = 0;
  const model::Trace trace = std::move(t).Build();
  const TraceTables tables(trace);
  ExpectEmptyColumnsHaveNoValue(tables);
  const Table& events = *FindTable("events");
  EXPECT_FALSE(tables.IsEmpty(*events.FindColumn("sequence_nr")));
  EXPECT_TRUE(tables.IsEmpty(*events.FindColumn("correlation_id")));
  EXPECT_TRUE(tables.IsEmpty(*events.FindColumn("stream")));
  EXPECT_TRUE(tables.IsEmpty(*events.FindColumn("wait_ns")));
}

TEST(EmptyTraceTablesTest, OnlyTheRecordingHasARow) {
  const model::Trace trace = TestTrace().Build();
  const TraceTables tables(trace);
  for (const Table& table : AllTables()) {
    if (table.name == "ranks" || table.name == "names" ||
        table.name == "stacks") {
      EXPECT_EQ(tables.RowCount(table), 1) << table.name;
    } else {
      EXPECT_THAT(RowsOf(tables, table.name), IsEmpty()) << table.name;
    }
  }
  EXPECT_THAT(RowsOf(tables, "ranks"), ElementsAre("-|-|-|-|-|0|0|-"));
}

TEST(LanesTest, LanesOfAThreadAreOneThread) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddThread(1, 1, "main");
  t.AddThread(1, 2, "worker");
  const model::Trace trace = std::move(t).Build();
  const TraceTables tables(trace);
  EXPECT_THAT(RowsOf(tables, "tracks", {"id", "thread_id", "lane"}),
              ElementsAre("0|0|0", "1|0|1", "2|1|0"));
  EXPECT_THAT(RowsOf(tables, "threads", {"id", "track_id", "tid"}),
              ElementsAre("0|0|1", "1|2|2"));
}

TEST(LanesTest, AThreadBelongsToTheLastProcessOfItsPid) {
  TestTrace t;
  t.AddProcess(1, "sh");
  t.AddProcess(1, "server");
  t.AddThread(1, 1, "main");
  t.AddThread(2, 2, "unknown");
  const model::Trace trace = std::move(t).Build();
  EXPECT_THAT(RowsOf(TraceTables(trace), "threads", {"process_id"}),
              ElementsAre("1", "-"));
}

}  // namespace
}  // namespace kymo::tables
