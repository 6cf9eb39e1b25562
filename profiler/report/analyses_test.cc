#include "profiler/report/analyses.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "profiler/report/test_device_trace.h"
#include "tests/support/test_trace.h"

namespace kymo::report {
namespace {

TEST(AnalysesTest, AreSortedAndFoundByTheirNames) {
  std::string_view last;
  for (const Analysis& analysis : Analyses()) {
    EXPECT_LT(last, analysis.name);
    last = analysis.name;
    EXPECT_EQ(FindAnalysis(analysis.name), &analysis);
    EXPECT_EQ(analysis.name.find_first_not_of(
                  "abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string_view::npos)
        << analysis.name;
  }
  EXPECT_EQ(FindAnalysis("weather"), nullptr);
}

TEST(AnalysesTest, PurposesAreOneLineWithoutAFullStop) {
  for (const Analysis& analysis : Analyses()) {
    EXPECT_FALSE(analysis.purpose.empty()) << analysis.name;
    EXPECT_EQ(analysis.purpose.find('\n'), std::string_view::npos)
        << analysis.name;
    EXPECT_FALSE(analysis.purpose.ends_with('.')) << analysis.name;
  }
}

// Two ranks of MPI, each a process: a range, a reduction, a message.
model::Trace TraceOfRanks() {
  TestTrace t;
  const auto arg = [&](const char* key, int64_t value) {
    return model::Arg::Int(t.Intern(key), value);
  };
  for (const int64_t rank : {0, 1}) {
    const auto track = t.AddThread(100 + rank, 100 + rank, "rank");
    t.AddInstant(track, "MPI ranks", 1000);
    t.Describe(0, {arg("rank", rank), arg("size", 2)});
    t.AddRange(track, "solve", 2000, 3000 + 1000 * rank);
    t.AddRange(track, "MPI_Allreduce", 5000, 6000);
    t.Describe(0, {arg("comm", 0)});
    t.AddRange(track, rank == 0 ? "MPI_Send" : "MPI_Recv", 6000, 7000);
    t.Describe(0, {arg("comm", 0), arg(rank == 0 ? "to" : "from", 1 - rank),
                   arg("tag", 1)});
    t.AddRange(track, "MPI_Wait", 7000, 7100);
  }
  return std::move(t).Build();
}

// A trace that has something for each other analysis. A finding is about a
// millisecond at least, or about what was lost.
model::Trace TraceForAll() {
  model::TraceData data = DeviceTrace().Release();
  data.ledger.Add(model::Loss::kEventsDroppedArenaFull, 100);
  return model::Trace(std::move(data));
}

// Every table has a value per column, of its column's kind, and a text.
TEST(AnalysesTest, EveryOneHasRowsOfATraceWithAKernelAndACopy) {
  const model::Trace of_devices = TraceForAll();
  const model::Trace of_ranks = TraceOfRanks();
  const std::set<std::string_view> about_ranks = {
      "collectives", "imbalance", "messages", "mpi_waits", "ranks"};
  for (const Analysis& analysis : Analyses()) {
    SCOPED_TRACE(analysis.name);
    const model::Trace& trace =
        about_ranks.contains(analysis.name) ? of_ranks : of_devices;
    const ValueTable table = analysis.table(trace);
    ASSERT_FALSE(table.rows.empty());
    for (const std::vector<Value>& row : table.rows) {
      ASSERT_EQ(row.size(), table.columns.size());
      for (size_t i = 0; i < row.size(); ++i) {
        if (std::holds_alternative<std::monostate>(row[i])) continue;
        EXPECT_EQ(std::holds_alternative<std::string>(row[i]),
                  table.columns[i].unit == Unit::kText)
            << table.columns[i].name;
      }
    }
    EXPECT_FALSE(FormatValueTable(table, {}).empty());
    if (analysis.text != nullptr) {
      EXPECT_FALSE(analysis.text(trace, -1).empty());
    }
  }
}

TEST(AnalysesTest, NoneFailsOfAnEmptyTrace) {
  const model::Trace trace = TestTrace().Build();
  for (const Analysis& analysis : Analyses()) {
    EXPECT_TRUE(analysis.table(trace).rows.empty()) << analysis.name;
  }
}

TEST(AnalysesTest, NamesOfColumnsEndInTheirUnit) {
  const model::Trace trace = DeviceTrace();
  for (const Analysis& analysis : Analyses()) {
    std::set<std::string> names;
    for (const ValueColumn& column : analysis.table(trace).columns) {
      SCOPED_TRACE(std::string(analysis.name) + ": " + column.name);
      EXPECT_TRUE(names.insert(column.name).second);
      EXPECT_EQ(column.name.ends_with("_ns"), column.unit == Unit::kNs);
      EXPECT_EQ(column.name == "bytes" || column.name.ends_with("_bytes"),
                column.unit == Unit::kBytes);
    }
  }
}

TEST(AnalysesTest, ReportMdHasARowForEachInThisOrder) {
  std::ifstream file(std::getenv("KYMO_DOCUMENT"));
  ASSERT_TRUE(file.good());
  std::string rows;
  bool is_section = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) is_section = line == "## Analyses";
    if (is_section && line.starts_with("| `")) rows += line + "\n";
  }
  std::string expected;
  for (const Analysis& analysis : Analyses()) {
    expected += "| `" + std::string(analysis.name) + "` | " +
                std::string(analysis.purpose) + " |\n";
  }
  EXPECT_EQ(rows, expected)
      << "The table of the section \"Analyses\" in docs/report.md is:\n"
      << expected;
}

}  // namespace
}  // namespace kymo::report
