#include "profiler/report/thread_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/test_trace.h"

namespace kymo::report {
namespace {

model::Trace TwoThreads() {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  const auto worker = t.AddThread(7, 8, "worker");
  t.SetThreadTimes({{.track = main,
                     .wall_ns = 2'000'000,
                     .on_cpu_ns = 500'000,
                     .runnable_ns = 200'000,
                     .unknown_ns = 100'000,
                     .open_wait_ns = 300'000,
                     .voluntary_switches = 3,
                     .involuntary_switches = 1,
                     .run_queue = model::RunQueueTime::kWhole},
                    {.track = worker,
                     .wall_ns = 1'000'000,
                     .on_cpu_ns = 750'000,
                     .run_queue = model::RunQueueTime::kLastKnown}});
  return std::move(t).Build();
}

TEST(ThreadTableTest, TheBusiestThreadIsFirstAndTimesAddUp) {
  EXPECT_EQ(
      FormatValueTable(ThreadTable(TwoThreads()), {.time_unit = "us"}),
      "------------  ------------  ------  ------------  ------------  "
      "------------  ------------  ------------  ------------  ------------  "
      "------------  ------------  ----------  \n"
      "     Process        Thread  Name            Wall        On CPU  "
      "    On CPU %      Runnable       Blocked       Unknown     Open wait  "
      "   Voluntary   Involuntary  Run queue   \n"
      "------------  ------------  ------  ------------  ------------  "
      "------------  ------------  ------------  ------------  ------------  "
      "------------  ------------  ----------  \n"
      "           7             8  worker    1000.000us     750.000us  "
      "      75.00%       0.000us     250.000us       0.000us       0.000us  "
      "           0             0  last known  \n"
      "           7             7  main      2000.000us     500.000us  "
      "      25.00%     200.000us    1200.000us     100.000us     300.000us  "
      "           3             1  whole       \n"
      "------------  ------------  ------  ------------  ------------  "
      "------------  ------------  ------------  ------------  ------------  "
      "------------  ------------  ----------  \n");
}

TEST(ThreadTableTest, PageFaultsAndIoAreThereIfTheyWereCounted) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  const auto worker = t.AddThread(7, 8, "worker");
  t.SetThreadTimes({{.track = main,
                     .wall_ns = 9,
                     .on_cpu_ns = 5,
                     .counts = {.has_faults = true,
                                .minor_faults = 11,
                                .major_faults = 2,
                                .has_io = true,
                                .read_calls = 3,
                                .read_bytes = 400,
                                .write_calls = 5,
                                .written_bytes = 60,
                                .disk_read_bytes = 7,
                                .disk_written_bytes = 8}},
                    {.track = worker,
                     .wall_ns = 9,
                     .counts = {.has_faults = true, .minor_faults = 1}}});
  const ValueTable table = ThreadTable(std::move(t).Build());
  std::string texts[2];
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (i <= 11) continue;  // the times
    for (size_t row = 0; row < 2; ++row) {
      const auto* const count = std::get_if<int64_t>(&table.rows[row][i]);
      if (count == nullptr) continue;
      texts[row] +=
          table.columns[i].title + " " + std::to_string(*count) + ", ";
    }
  }
  EXPECT_EQ(texts[0],
            "Minor faults 11, Major faults 2, Reads 3, Read 400, Writes 5, "
            "Written 60, Disk read 7, Disk written 8, ");
  EXPECT_EQ(texts[1], "Minor faults 1, Major faults 0, ");
  EXPECT_EQ(table.columns.back().name, "run_queue");
}

TEST(ThreadTableTest, ThereIsNoRowIfNobodyRecordedTimes) {
  TestTrace t;
  t.AddThread(7, 7, "main");
  const model::Trace trace = std::move(t).Build();
  EXPECT_TRUE(ThreadTable(trace).rows.empty());
  EXPECT_EQ(ThreadsText(trace, -1), "");
}

TEST(ThreadTableTest, AThreadsNameDoesNotBreakTheText) {
  TestTrace t;
  const auto a = t.AddThread(7, 1, "a\nb");
  const auto c = t.AddThread(7, 2, "c");
  t.SetThreadTimes({{.track = a}, {.track = c}});
  const model::Trace trace = std::move(t).Build();
  const std::string text = ThreadsText(trace, 1);
  EXPECT_TRUE(text.starts_with("Threads\n-----")) << text;
  // The title, three rules, the titles of columns and one row.
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6) << text;
}

// It has ended before a nanosecond passed.
TEST(ThreadTableTest, AThreadWithoutALifeHasNoShare) {
  TestTrace t;
  t.SetThreadTimes({{.track = t.AddThread(7, 7, "main")}});
  const ValueTable table = ThreadTable(std::move(t).Build());
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table.rows[0][5]));
}

TEST(ProgramTableTest, ProcessesOfOneProgramAreOneRow) {
  TestTrace t;
  t.AddProcess(1, "make");
  t.AddProcess(2, "cc1");
  t.AddProcess(3, "cc1");
  const auto make = t.AddThread(1, 1, "make");
  const auto first = t.AddThread(2, 2, "cc1");
  const auto helper = t.AddThread(2, 4, "helper");
  const auto second = t.AddThread(3, 3, "cc1");
  const auto lost = t.AddThread(9, 9, "lost");
  t.SetThreadTimes({{.track = make, .wall_ns = 9'000, .on_cpu_ns = 1'000},
                    {.track = first, .wall_ns = 4'000, .on_cpu_ns = 3'000},
                    {.track = helper,
                     .wall_ns = 2'000,
                     .on_cpu_ns = 500,
                     .runnable_ns = 700,
                     .unknown_ns = 300},
                    {.track = second, .wall_ns = 4'000, .on_cpu_ns = 3'500},
                    {.track = lost, .wall_ns = 10}});
  const model::Trace trace = std::move(t).Build();
  const std::vector<std::vector<Value>> rows = ProgramTable(trace).rows;
  using Row = std::vector<Value>;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], (Row{"cc1", int64_t{2}, int64_t{3}, int64_t{7'000}, 0.875,
                          int64_t{700}, int64_t{2'000}, int64_t{300}}));
  EXPECT_EQ(rows[1], (Row{"make", int64_t{1}, int64_t{1}, int64_t{1'000}, 0.125,
                          int64_t{0}, int64_t{8'000}, int64_t{0}}));
  EXPECT_EQ(rows[2], (Row{"[unknown]", int64_t{1}, int64_t{1}, int64_t{0}, 0.0,
                          int64_t{0}, int64_t{10}, int64_t{0}}));
  EXPECT_TRUE(ProgramsText(trace, -1).starts_with("Programs\n-----"));
}

TEST(ProgramTableTest, OneProgramNeedsNoSection) {
  EXPECT_EQ(ProgramTable(TwoThreads()).rows.size(), 1u);
  EXPECT_EQ(ProgramsText(TwoThreads(), -1), "");
}

}  // namespace
}  // namespace kymo::report
