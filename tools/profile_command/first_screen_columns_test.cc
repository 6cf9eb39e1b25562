// Long, because each column and line of the screen is a case.
// Columns, colours and counts of the first screen, line by line.
#include "tools/profile_command/first_screen.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_trace.h"
#include "tools/command_line/flag_dashes.h"

namespace kymo::tools {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string Screen(const ScreenTables& tables, const ScreenOptions& options,
                   TestTrace t = TestTrace(), const RunFacts& facts = {}) {
  const model::Trace trace = std::move(t).Build();
  const absl::StatusOr<std::string> screen =
      FirstScreen(trace, tables, facts, options);
  EXPECT_TRUE(screen.ok()) << screen.status();
  return screen.value_or("");
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// The cells of a line, which are two spaces or more apart.
std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find("  ", begin), line.size());
    cells.push_back(line.substr(begin, end - begin));
    begin = std::min(line.find_first_not_of(' ', end), line.size());
  }
  return cells;
}

// The titles in the order in which they leave as the terminal narrows.
std::vector<std::string> DropOrder(const ScreenTables& tables) {
  std::vector<std::string> order;
  std::vector<std::string> before =
      Cells(Lines(Screen(tables, {.width = 999}))[2]);
  for (size_t width = 300; width > 10; --width) {
    const std::string screen = Screen(tables, {.width = width});
    const size_t begin = screen.find("\n\n") + 2;
    const std::vector<std::string> titles =
        Cells(screen.substr(begin, screen.find('\n', begin) - begin));
    const std::set<std::string> left(titles.begin(), titles.end());
    for (const std::string& title : before) {
      if (!left.contains(title)) order.push_back(title);
    }
    before = titles;
  }
  return order;
}

report::TableRow Operation() {
  return {.key = "operation with a name that is long enough",
          .count = 3,
          .cpu_time_total_us = 60,
          .self_cpu_time_total_us = 30,
          .device_time_total_us = 8,
          .self_device_time_total_us = 5,
          .self_cpu_memory_usage_bytes = 2048};
}

TEST(ColumnsTest, RangesLoseTheLeastImportantFirst) {
  const ScreenTables tables = {
      .ranges = {Operation()}, .use_device = "cuda", .profile_memory = true};
  EXPECT_THAT(DropOrder(tables),
              ElementsAre("CPU time avg", "Self CPU Mem", "Device total",
                          "Self CPU", "# of Calls", "CPU total"));
}

TEST(ColumnsTest, FunctionsLoseTheLeastImportantFirst) {
  ScreenTables tables;
  tables.functions.rows = {
      {.name = "function with a name that is long enough", .module = "a/b"}};
  EXPECT_THAT(DropOrder(tables),
              ElementsAre("Samples total", "Module", "CPU total %", "Self CPU",
                          "CPU total"));
}

TEST(ColumnsTest, RowsOfRanges) {
  ScreenTables tables = {
      .ranges = {Operation()}, .use_device = "cuda", .profile_memory = true};
  tables.ranges.push_back(
      {.key = "never", .count = 0, .self_cpu_time_total_us = 10});
  std::vector<std::string> lines = Lines(Screen(tables, {.width = 300}));
  EXPECT_THAT(Cells(lines[2]),
              ElementsAre("Range", "Self CPU %", "Self CPU", "CPU total",
                          "CPU time avg", "Self Device", "Device total",
                          "Self CPU Mem", "# of Calls"));
  EXPECT_THAT(Cells(lines[4]),
              ElementsAre(Operation().key, "75.00%", "30.000us", "60.000us",
                          "20.000us", "5.000us", "8.000us", "2.00 KiB", "3"));
  EXPECT_THAT(Cells(lines[5]),
              ElementsAre("never", "25.00%", "10.000us", "0.000us", "0.000us",
                          "0.000us", "0.000us", "0 B", "0"));
  tables.use_device = "";
  tables.profile_memory = false;
  lines = Lines(Screen(tables, {.width = 300}));
  EXPECT_THAT(Cells(lines[4]),
              ElementsAre(Operation().key, "75.00%", "30.000us", "60.000us",
                          "20.000us", "3"));
}

// A program that ends at once.
TEST(ColumnsTest, SaysWhyThereAreNoFunctions) {
  const auto screen = [](DurationNs period_ns, bool has_table,
                         uint64_t lost = 0, DurationNs cpu_ns = 20'000'000) {
    TestTrace t;
    t.data().sampling_period_ns = period_ns;
    t.data().ledger.Add(model::Loss::kSamplesNotDelivered, lost);
    return Screen({.has_threads = has_table}, {}, std::move(t),
                  {.cpu_ns = cpu_ns});
  };
  EXPECT_THAT(screen(1'000'000, true),
              HasSubstr("\nNo functions: no sample fell into the 20.000ms of "
                        "CPU time. More come with --sampling_hz=10000.\n"));
  EXPECT_THAT(screen(1'000'000, true, 20),
              HasSubstr("20.000ms of CPU time. \"Lost\" below says why.\n"));
  // As of a program that was stopped meanwhile.
  EXPECT_THAT(screen(1'000'000, true, 0, 0),
              HasSubstr("\nNo functions: no CPU time was used.\n"));
  EXPECT_THAT(screen(0, true), Not(HasSubstr("No functions")));
  EXPECT_THAT(screen(1'000'000, false), Not(HasSubstr("No functions")));
}

TEST(ColumnsTest, RowsOfFunctions) {
  ScreenTables tables;
  tables.functions.sampled_ns = 400'000;
  tables.functions.rows = {{.name = "f\x1b",
                            .module = "/usr/lib/libx\x1b.so",
                            .cpu_time_us = 200,
                            .self_cpu_time_us = 100,
                            .sample_count = 7}};
  const std::vector<std::string> lines = Lines(Screen(tables, {.width = 200}));
  EXPECT_THAT(Cells(lines[2]),
              ElementsAre("Function", "Self CPU %", "Self CPU", "CPU total %",
                          "CPU total", "Samples total", "Module"));
  EXPECT_THAT(Cells(lines[4]),
              ElementsAre("f\\x1b", "25.00%", "100.000us", "50.00%",
                          "200.000us", "7", "libx\\x1b.so"));
}

constexpr char kRed[] = "\033[31m";
constexpr char kDim[] = "\033[2m";

TEST(ColorTest, OfFunctionsIsByTheirShareOfTheSampledTime) {
  ScreenTables tables;
  tables.functions.sampled_ns = 1'000'000;
  for (const double us : {100, 99, 10, 9}) {
    tables.functions.rows.push_back({.name = "f", .self_cpu_time_us = us});
  }
  std::vector<std::string> lines =
      Lines(Screen(tables, {.width = 200, .color = true}));
  EXPECT_THAT(lines[4], StartsWith(kRed));
  EXPECT_THAT(lines[5], StartsWith("f "));
  EXPECT_THAT(lines[6], StartsWith("f "));
  EXPECT_THAT(lines[7], StartsWith(kDim));
  tables.functions.sampled_ns = 0;
  lines = Lines(Screen(tables, {.width = 200, .color = true}));
  EXPECT_THAT(lines[4], StartsWith(kDim));
}

// Operations repeat the time of their kernels, and annotations cover it.
TEST(ColorTest, OfRangesIsByTheirShareOfTheProcessorOrTheDevice) {
  using report::RowDevice;
  const auto row = [](const char* name, double us, RowDevice device) {
    return report::TableRow{
        .key = name, .device = device, .self_device_time_total_us = us};
  };
  ScreenTables tables = {.sort_by = "", .use_device = "cuda"};
  tables.ranges = {row("kernel", 7852, RowDevice::kDevice),
                   row("small", 1000, RowDevice::kDevice),
                   row("warm", 998, RowDevice::kDevice),
                   row("tiny", 100, RowDevice::kDevice),
                   row("legacy", 50, RowDevice::kCpu),
                   row("operation", 5000, RowDevice::kCpu),
                   row("annotation", 90000, RowDevice::kDevice)};
  tables.ranges[4].is_legacy = true;
  tables.ranges[6].is_user_annotation = true;
  std::vector<std::string> lines =
      Lines(Screen(tables, {.width = 200, .color = true}));
  EXPECT_THAT(lines[4], StartsWith(kRed));
  EXPECT_THAT(lines[5], StartsWith(kRed));  // 10 %
  EXPECT_THAT(lines[6], StartsWith("warm"));
  EXPECT_THAT(lines[7], StartsWith("tiny"));  // 1 %
  EXPECT_THAT(lines[8], StartsWith(kDim));
  EXPECT_THAT(lines[9], StartsWith(kRed));
  EXPECT_THAT(lines[10], StartsWith(kRed));
  // The processor's time, where that is more.
  tables.ranges[3].self_cpu_time_total_us = 10;
  tables.ranges[4].self_cpu_time_total_us = 90;
  lines = Lines(Screen(tables, {.width = 200, .color = true}));
  EXPECT_THAT(lines[7], StartsWith(kRed));
  EXPECT_THAT(lines[8], StartsWith(kRed));
  EXPECT_THAT(lines[6], StartsWith("warm"));
}

TEST(ColorTest, TheHeadlineIsBoldAndLossesAreYellow) {
  TestTrace t;
  t.data().ledger.Add(model::Loss::kEventsDroppedArenaFull, 7);
  const std::string screen =
      Screen({}, {.width = 500, .color = true}, std::move(t));
  EXPECT_THAT(screen, StartsWith("\033[1m: 0.000 s, 0.000 s of CPU\033[0m\n"));
  EXPECT_THAT(screen, HasSubstr("\n\n\033[33mLost: 7 "));
  EXPECT_THAT(screen, EndsWith("--cpu_arena_mib\033[0m\n"));
}

TEST(HeadlineTest, CountsProcessesAndEachThreadOnce) {
  TestTrace t;
  t.AddProcess(1, "a");
  t.AddThread(1, 1, "main");
  t.AddThread(1, 1, "main");  // a lane of the same thread
  t.AddThread(1, 2, "worker");
  const RunFacts facts = {
      .target = "a\nb", .wall_ns = 2'345'600'000, .cpu_ns = 78'000'000};
  EXPECT_THAT(Screen({}, {}, std::move(t), facts),
              StartsWith("a\\nb: 2.346 s, 0.078 s of CPU, 1 process, 2 threads"
                         "\n"));
  TestTrace two;
  two.AddProcess(1, "a");
  two.AddProcess(2, "b");
  EXPECT_THAT(Screen({}, {}, std::move(two)),
              StartsWith(": 0.000 s, 0.000 s of CPU, 2 processes\n"));
}

// The kernel counts what a program and the children that it waited for used.
TEST(HeadlineTest, ChildrenThatNobodyWaitedForUsedCpuTime) {
  const auto headline = [](DurationNs recorded_ns) {
    TestTrace t;
    t.SetThreadTimes({{.track = t.AddThread(1, 1, "main"),
                       .wall_ns = kNsPerSecond,
                       .on_cpu_ns = recorded_ns}});
    return Lines(Screen({}, {.width = 100}, std::move(t),
                        {.target = "sh",
                         .wall_ns = kNsPerSecond,
                         .cpu_ns = 200 * kNsPerMs}))[0];
  };
  EXPECT_EQ(headline(391 * kNsPerMs), "sh: 1.000 s, 0.391 s of CPU, 1 thread");
  // The kernel's count is more exact.
  EXPECT_EQ(headline(210 * kNsPerMs), "sh: 1.000 s, 0.200 s of CPU, 1 thread");
}

// Of a process that ran already, only the recording knows.
TEST(HeadlineTest, OneThatSleptUsedNoCpuTime) {
  const auto headline = [](DurationNs on_cpu_ns, bool has_states) {
    TestTrace t;
    const auto track = t.AddThread(1, 1, "main");
    if (has_states) {
      t.SetThreadTimes(
          {{.track = track, .wall_ns = kNsPerSecond, .on_cpu_ns = on_cpu_ns}});
    }
    return Lines(
        Screen({}, {.width = 100}, std::move(t),
               {.target = "sh", .wall_ns = kNsPerSecond, .attach_end = ""}))[0];
  };
  EXPECT_EQ(headline(0, true),
            "attached to sh: 1.000 s, no CPU time, 1 thread");
  EXPECT_EQ(headline(45'200, true),
            "attached to sh: 1.000 s, 45.200us of CPU, 1 thread");
  EXPECT_EQ(headline(500'000, true),
            "attached to sh: 1.000 s, 0.001 s of CPU, 1 thread");
  EXPECT_EQ(headline(0, false), "attached to sh: 1.000 s, 1 thread");
}

TEST(StillRunningTest, SaysHowToRecordWhatWentToTheBackground) {
  const auto screen = [](TimeNs end_ns, int servers) {
    TestTrace t;
    t.AddProcess(1, "sh");
    t.data().processes.back().end_ns = end_ns;
    t.AddProcess(2, "killed");
    for (int i = 0; i < servers; ++i) t.AddProcess(10 + i, "serv\ner");
    t.AddProcess(20, "has the number of an older process");
    return Screen({}, {.width = 200}, std::move(t),
                  {.target = "sh",
                   .ran_at_end = {10, 11, 12, 13},
                   .still_runs = [](int64_t pid) { return pid >= 10; }});
  };
  EXPECT_THAT(screen(99, 1),
              EndsWith("\n\nNote: serv\\ner (10) still runs: it was recorded "
                       "only until sh ended; kymo profile --pid=10 records it "
                       "from now on\n"));
  EXPECT_THAT(screen(99, 2), HasSubstr("--pid=10,11 records them from"));
  EXPECT_THAT(screen(99, 4),
              HasSubstr(" (12) and 1 more still run: they were"));
  EXPECT_THAT(screen(99, 0), Not(HasSubstr("Note")));
  // Nobody saw processes end.
  EXPECT_THAT(screen(0, 1), Not(HasSubstr("Note")));
}

TEST(StillRunningTest, SaysWhatRanOnForAWhile) {
  TestTrace t;
  t.AddProcess(1, "sh");
  t.data().processes.back().end_ns = 99;
  t.AddProcess(2, "without records");
  t.AddProcess(3, "daemon");
  t.AddProcess(4, "sh");  // without perf events, nobody saw its end
  EXPECT_THAT(Screen({}, {.width = 200}, std::move(t),
                     {.target = "sh",
                      .target_pid = 4,
                      .ran_at_end = {1, 3, 4},
                      .still_runs = [](int64_t) { return false; }}),
              EndsWith("\n\nNote: daemon (3) ran on for a while: it was "
                       "recorded only until sh ended\n"));
}

TEST(UnknownWaitsTest, AreToldIfTheyAreMany) {
  const auto screen = [](DurationNs unknown_ns) {
    TestTrace t;
    const auto main = t.AddThread(7, 7, "main");
    t.SetThreadTimes({{.track = main, .wall_ns = kNsPerSecond}});
    t.AddWait({.track = main,
               .kind = model::WaitKind::kLock,
               .duration_ns = 91 * kNsPerUs});
    for (int i = 1; i < 3; ++i) {
      t.AddWait({.track = main,
                 .begin_ns = i * kNsPerMs,
                 .duration_ns = unknown_ns / 2});
    }
    return Screen({}, {.width = 300}, std::move(t), {.target = "app"});
  };
  EXPECT_THAT(screen(10 * kNsPerUs), Not(HasSubstr("Note")));
  EXPECT_THAT(screen(30 * kNsPerUs),
              HasSubstr("Note: nobody saw what 2 waits (25 % of this time, "
                        "15.000us on average) were for: short"));
}

TEST(UnknownWaitsTest, MayBePageFaults) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.SetThreadTimes({{.track = main, .wall_ns = kNsPerSecond}});
  t.AddWait({.track = main, .begin_ns = 1, .duration_ns = 15 * kNsPerUs});
  EXPECT_THAT(
      Screen({}, {.width = 300}, std::move(t),
             {.target = "app", .hides_page_faults = true}),
      HasSubstr("Note: nobody saw what 1 wait (100 % of this time, "
                "15.000us) was for: some short waits, such as those for page "
                "faults, have no stacks in this recording; "
                "--activities=sampling,off_cpu shows them\n"));
}

TEST(UnknownWaitsTest, LongOnesAreNotSaidToBeShort) {
  for (const bool hides_page_faults : {false, true}) {
    TestTrace t;
    const auto main = t.AddThread(7, 7, "main");
    t.SetThreadTimes({{.track = main, .wall_ns = kNsPerSecond}});
    t.AddWait({.track = main, .begin_ns = 1, .duration_ns = 80 * kNsPerMs});
    EXPECT_THAT(
        Screen({}, {.width = 300}, std::move(t),
               {.target = "app", .hides_page_faults = hides_page_faults}),
        AllOf(HasSubstr("80.000ms) was for: they may be of threads that did "
                        "not run in the recording\n"),
              Not(HasSubstr("short"))));
  }
}

TEST(UnknownWaitsTest, WhatCannotBeIsNotSaid) {
  const auto screen = [](DurationNs on_cpu_ns) {
    TestTrace t;
    const auto main = t.AddThread(7, 7, "main");
    t.SetThreadTimes(
        {{.track = main, .wall_ns = kNsPerSecond, .on_cpu_ns = on_cpu_ns}});
    t.AddWait({.track = main, .begin_ns = 1, .duration_ns = 80 * kNsPerMs});
    return Screen({}, {.width = 300}, std::move(t), {.target = "app"});
  };
  const auto idle = HasSubstr("threads that did not run");
  const auto late = HasSubstr("Kymo may have looked too late");
  EXPECT_THAT(screen(0), AllOf(idle, Not(late)));
  EXPECT_THAT(screen(1), AllOf(Not(idle), late));
}

// The kernel's own threads that do not run do not tell why others have waits
// that nobody saw, nor does a thread that has few of these.
TEST(UnknownWaitsTest, MostOfThemTellTheReason) {
  TestTrace t;
  t.data().processes = {{.pid = 2, .name = t.Intern("kthreadd")},
                        {.pid = 7, .name = t.Intern("app")}};
  const auto kernels = t.AddThread(2, 2, "");
  const auto main = t.AddThread(7, 7, "main");
  const auto other = t.AddThread(7, 8, "other");
  t.SetThreadTimes({{.track = kernels, .wall_ns = kNsPerSecond},
                    {.track = main, .wall_ns = kNsPerSecond, .on_cpu_ns = 1},
                    {.track = other, .wall_ns = kNsPerSecond}});
  t.AddWait({.track = kernels, .begin_ns = 1, .duration_ns = 900 * kNsPerMs});
  t.AddWait({.track = main, .begin_ns = 1, .duration_ns = 80 * kNsPerMs});
  t.AddWait({.track = other, .begin_ns = 1, .duration_ns = 70 * kNsPerMs});
  EXPECT_THAT(Screen({}, {.width = 300}, std::move(t), {.target = "app"}),
              AllOf(HasSubstr("what 2 waits (100 % of this time, 75.000ms on "
                              "average) were for: Kymo may have looked"),
                    Not(HasSubstr("threads that did not run"))));
}

TEST(CpuWithoutThreadTest, SaysWhereItWent) {
  const auto screen = [](DurationNs cpu_ns, size_t threads) {
    TestTrace t;
    std::vector<model::ThreadTimes> times;
    for (size_t i = 0; i < threads; ++i) {
      const auto thread = t.AddThread(7, 7 + static_cast<int>(i), "app");
      times.push_back({.track = thread,
                       .wall_ns = kNsPerSecond,
                       .on_cpu_ns = static_cast<DurationNs>(
                           kNsPerSecond / static_cast<DurationNs>(threads))});
    }
    t.SetThreadTimes(std::move(times));
    return Screen({}, {.width = 300}, std::move(t),
                  {.target = "app", .cpu_ns = cpu_ns});
  };
  EXPECT_THAT(screen(0, 0), Not(HasSubstr("Note")));  // ended before its exec
  EXPECT_THAT(screen(30 * kNsPerMs, 0),
              HasSubstr("Note: 30.000ms of the CPU time are in no thread's"));
  EXPECT_THAT(screen(1'015 * kNsPerMs, 1), Not(HasSubstr("Note")));
  EXPECT_THAT(screen(1'050 * kNsPerMs, 1),
              HasSubstr("Note: 50.000ms of the CPU time are in no thread's row:"
                        " most likely, the kernel freed the memory of processes"
                        " at their ends, after their last records; or they "
                        "are of programs that the kernel does not let"));
  EXPECT_THAT(screen(1'050 * kNsPerMs, 400), HasSubstr("at the ends of thr"));
}

TEST(HeadlineTest, OneOfAKindIsSaidSo) {
  TestTrace t;
  t.AddInstant(t.AddThread(1, 1, ""), "mark", 3);
  t.AddRange(t.AddStream(0, 7, 1), "kernel", 0, 9);
  ScreenTables tables;
  tables.functions.sample_count = 1;
  tables.allocations = 1;
  EXPECT_THAT(Screen(tables, {.width = 300}, std::move(t)),
              HasSubstr(", 1 thread; 1 sample, 1 mark, 1 device event, "
                        "1 allocation\n"));
  TestTrace marks;
  const auto main = marks.AddThread(1, 1, "");
  marks.AddInstant(main, "mark", 3);
  marks.AddInstant(main, "mark", 4);
  EXPECT_THAT(Screen({}, {.width = 300}, std::move(marks)),
              HasSubstr(", 1 thread; 2 marks\n"));
}

TEST(HeadlineTest, BreaksBetweenWords) {
  const RunFacts facts = {
      .target = "work", .wall_ns = 1'500'000'000, .cpu_ns = 20'000'000};
  EXPECT_THAT(Screen({}, {.width = 22}, TestTrace(), facts),
              StartsWith("work: 1.500 s, 0.020 s\n  of CPU\n\n"));
  EXPECT_THAT(Screen({}, {.width = 21}, TestTrace(), facts),
              StartsWith("work: 1.500 s,\n  0.020 s of CPU\n\n"));
}

TEST(MemoryTest, UpToTwentyLinesAreShown) {
  ScreenTables tables;
  for (int i = 0; i < 20; ++i) tables.memory += "line\n";
  EXPECT_THAT(Screen(tables, {}), EndsWith("\nline\nline\n"));
  EXPECT_EQ(TableCount(tables), 1u);
  tables.memory += "last";
  EXPECT_THAT(Screen(tables, {}), EndsWith("\nline\nand 1 more lines\n"));
}

class LossTest : public testing::Test {
 protected:
  model::StackId Stack() {
    return t_.data().stacks.Push(model::kEmptyStack,
                                 t_.data().stacks.AddFrame({}));
  }
  // Of a trace with `count` samples and so many of the loss.
  std::vector<std::string> Losses(model::Loss loss, uint64_t lost,
                                  size_t samples) {
    t_.data().samples.resize(samples);
    t_.data().ledger.Add(loss, lost);
    return LossesThatMatter(model::Trace(std::move(t_.data())));
  }

  TestTrace t_;
};

TEST_F(LossTest, OneSampleInTwentyCounts) {
  using model::Loss;
  const std::pair<Loss, size_t> kinds[] = {{Loss::kSamplesLost, 19},
                                           {Loss::kSamplesNotDelivered, 19},
                                           {Loss::kSamplesNotDue, 19},
                                           {Loss::kStacksIncomplete, 20},
                                           {Loss::kStacksTruncated, 20}};
  for (const auto& [loss, samples] : kinds) {
    t_ = TestTrace();
    EXPECT_THAT(Losses(loss, 1, samples), ElementsAre(HasSubstr(": 1 (5 %) ")));
    t_ = TestTrace();
    EXPECT_THAT(Losses(loss, 1, samples + 1), IsEmpty());
  }
  t_ = TestTrace();
  EXPECT_THAT(Losses(Loss::kStacksIncomplete, 3, 0),
              ElementsAre(HasSubstr(": 3 (100 %) ")));
}

TEST_F(LossTest, StacksOfOperationsAndAllocationsCount) {
  const model::StackId stack = Stack();
  const auto main = t_.AddThread(1, 1, "");
  for (int i = 0; i < 10; ++i) {
    t_.AddRange(main, "op", 10 * i, 10 * i + 5);
    t_.Describe(0);
    t_.data().details.back().stack = stack;
    t_.AddRange(main, "plain", 10 * i + 6, 10 * i + 7);
    t_.Describe(0);
    t_.data().memory.push_back({.stack = stack});
    t_.data().memory.push_back({});
  }
  EXPECT_THAT(Losses(model::Loss::kStacksTruncated, 1, 0),
              ElementsAre(HasSubstr(": 1 (5 %) ")));
}

TEST_F(LossTest, OfWaitsAloneNoFlagIsRecommended) {
  for (const bool is_of_sample : {false, true}) {
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    t.SetThreadTimes({{.track = main, .wall_ns = kNsPerSecond}});
    t.AddWait({.track = main, .duration_ns = kNsPerMs},
              {"[truncated]", "poll"});
    t.AddSample(main, 5, 1, {is_of_sample ? "[truncated]" : "main", "f"});
    t.data().ledger.Add(model::Loss::kStacksTruncated, 1);
    const auto lines = LossesThatMatter(model::Trace(std::move(t.data())));
    if (is_of_sample) {
      EXPECT_THAT(lines,
                  ElementsAre(HasSubstr(" --sampling_sampler=timer follows")));
    } else {
      EXPECT_THAT(lines,
                  ElementsAre(AllOf(StartsWith("Lost: 1 (50 %) stacks of wait"),
                                    Not(HasSubstr("sampling_")))));
    }
  }
}

TEST_F(LossTest, SettingsAreFlags) {
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    t_ = TestTrace();
    for (const std::string& line :
         Losses(static_cast<model::Loss>(i), 1000, 0)) {
      EXPECT_THAT(line, Not(HasSubstr(" sampling_")));
    }
  }
  EXPECT_EQ(WithFlagDashes("sampling_hz, --sampling_hz or sampling_hz=9"),
            "--sampling_hz, --sampling_hz or --sampling_hz=9");
  EXPECT_EQ(WithFlagDashes("samples_lost (own_sampling_hz)"),
            "samples_lost (own_sampling_hz)");
}

TEST_F(LossTest, AdviceIsGivenWhereItHelps) {
  using model::Loss;
  const std::pair<Loss, const char*> advice[] = {
      {Loss::kEventsDroppedArenaFull, "; give it more with --cpu_arena_mib"},
      {Loss::kNamesDroppedTableFull,
       "; use fewer different names: put what varies into arguments"},
      {Loss::kSamplesLost,
       "; sample less often with --sampling_hz, or, without root's rights, "
       "raise `sysctl kernel.perf_event_mlock_kb` and `ulimit -l`"},
      {Loss::kStacksIncomplete,
       "; what helps depends on the code in which they end: "
       "docs/names.md#whole-stacks"},
      {Loss::kDrainBytesLost,
       "; make room on the disk, or write elsewhere with --output_dir"}};
  for (const auto& [loss, text] : advice) {
    t_ = TestTrace();
    EXPECT_THAT(Losses(loss, 1, 0), ElementsAre(EndsWith(text)));
  }
  t_ = TestTrace();
  EXPECT_THAT(Losses(Loss::kRecordsCorrupt, 1, 0),
              ElementsAre(Not(HasSubstr("--"))));
  t_ = TestTrace();
  EXPECT_THAT(Losses(Loss::kSamplesBiased, 1, 0),
              ElementsAre(StartsWith("Note: 1 ")));
}

// Main waits for 700 of 1000 ms, and a worker all the time for work.
TestTrace WithWaits() {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main"), worker = t.AddThread(1, 2, "w");
  t.SetThreadTimes(
      {{.track = main, .wall_ns = 1'000'000'000, .on_cpu_ns = 300'000'000},
       {.track = worker, .wall_ns = 1'000'000'000}},
      /*cpu_count=*/2);
  t.AddWait({.track = main,
             .kind = model::WaitKind::kLock,
             .begin_ns = 100'000'000,
             .duration_ns = 500'000'000,
             .object = 0x1f},
            {"main", "Cache::Get"});
  t.AddWait({.track = main,
             .kind = model::WaitKind::kRead,
             .begin_ns = 700'000'000,
             .duration_ns = 200'000'000},
            {"main", "Load"});
  t.AddWait({.track = worker,
             .kind = model::WaitKind::kPoll,
             .duration_ns = 1'000'000'000});
  return t;
}

TEST(FirstScreenTest, SaysWhatThreadsWaitedForAndWhere) {
  ScreenTables tables;
  tables.has_threads = true;
  tables.wait_tables = 2;
  EXPECT_EQ(TableCount(tables), 3u);
  const std::vector<std::string> lines = Lines(
      Screen(tables, {.width = 200}, WithWaits(), {.wall_ns = 1'000'000'000}));
  ASSERT_EQ(lines.size(), 16u);
  EXPECT_EQ(lines[1],
            "0.30 of 2 CPUs used; 2 threads were idle for 50 % of their time; "
            "when not idle, they were on a CPU for 30 %, runnable for 0 %, "
            "blocked for 70 %: 50 % lock, 20 % read");
  EXPECT_THAT(Cells(lines[3]), ElementsAre("Waited in", "For", "Wait %", "Wait",
                                           "Waits", "Longest", "Module"));
  EXPECT_THAT(Cells(lines[5]),
              ElementsAre("Cache::Get", "lock", "71.43%", "500.000ms", "1",
                          "500.000ms", "app"));
  EXPECT_THAT(Cells(lines[6]),
              ElementsAre("Load", "read", "28.57%", "200.000ms", "1",
                          "200.000ms", "app"));
  EXPECT_THAT(Cells(lines[10]),
              ElementsAre("0x1f", "500.000ms", "1", "500.000ms", "Cache::Get",
                          "[unknown]"));
  EXPECT_THAT(lines[12], StartsWith("Thread"));
}

TEST(FirstScreenTest, ALongNameOfALockDropsNoColumn) {
  TestTrace t = WithWaits();
  t.AddWait({.kind = model::WaitKind::kLock, .duration_ns = 5, .object = 2},
            {"main",
             "wait<std::unique_lock<std::mutex>, consume(std::stop_"
             "token)::{lambda(std::vector<int> const&)#1}>"});
  ScreenTables tables;
  tables.has_threads = true;
  tables.wait_tables = 2;
  const std::string screen =
      Screen(tables, {.width = 120}, std::move(t), {.wall_ns = 1'000'000'000});
  EXPECT_THAT(screen, HasSubstr("  Mostly in   "));
  EXPECT_THAT(screen, HasSubstr("  Mostly held in\n"));
  EXPECT_THAT(screen, HasSubstr("  500.000ms  Cache::Get  "));
  EXPECT_THAT(screen, HasSubstr("  wait<...> "));
}

// Nobody knows in which range they were.
TEST(FirstScreenTest, ManyShortWaitsAreSaidToBeInTheTimeOfRanges) {
  for (const DurationNs short_ns : {4'000'000, 6'000'000}) {
    TestTrace t = WithWaits();
    t.AddRange(0, "step", 0, 1'000'000'000);
    for (const model::TrackIndex track : {0, 1}) {  // the other has no ranges
      t.AddShortWaits({.track = track,
                       .kind = model::WaitKind::kSleep,
                       .count = 10,
                       .duration_ns = short_ns * 3});
    }
    ScreenTables tables;
    tables.ranges = {{.key = "step", .count = 1}};
    tables.range_waits = {{.name = "step", .count = 1}};
    const std::vector<std::string> lines =
        Lines(Screen(tables, {.width = 200}, std::move(t)));
    const std::string line =
        "The CPU time of ranges has up to 18.000ms of short waits in it: there "
        "were too many to keep each";
    EXPECT_EQ(std::ranges::count(lines, line), short_ns == 6'000'000);
  }
}

TEST(FirstScreenTest, RangesSayForHowLongTheyWaited) {
  ScreenTables tables;
  tables.ranges = {{.key = "step", .count = 2}, {.key = "f", .count = 2}};
  for (const char* const name : {"step", "f"}) {
    analysis::RangeSplit& split = tables.range_waits.emplace_back();
    split.name = name;
    split.count = *name == 's' ? 2 : 3;  // of other groups of f, too
    split.duration_ns = 1'000'000'000;
    split.on_cpu_ns = 300'000'000;
    split.runnable_ns = 700'000'000;
  }
  const std::vector<std::string> lines = Lines(Screen(tables, {.width = 200}));
  EXPECT_THAT(lines[2], HasSubstr("   On CPU  Wait time  Wait %  # of Calls"));
  EXPECT_THAT(lines[4], EndsWith("  300.000ms  700.000ms  70.00%           2"));
  EXPECT_THAT(lines[5], EndsWith("          -          -       -           2"));
}

}  // namespace
}  // namespace kymo::tools
