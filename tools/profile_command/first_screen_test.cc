// Long, because each part of the screen has cases of its own.
#include "tools/profile_command/first_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/memory/lazy_profiles.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/thread_states.h"
#include "profiler/text/text_cells.h"
#include "tests/support/test_trace.h"
#include "tools/profile_command/progress_line.h"
#include "tools/profile_command/what_to_open.h"

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

ScreenTables MakeTables() {
  ScreenTables tables;
  tables.functions.sampled_ns = 1'000'000;
  tables.functions.sample_count = 1000;
  for (int i = 0; i < 30; ++i) {
    tables.functions.rows.push_back(
        {.name = "std::map<std::string, int, Less<std::string>>::function" +
                 std::to_string(i) + "(std::string const&, int)",
         .module = "/usr/lib/x86_64-linux-gnu/libwork.so.1",
         .cpu_time_us = 900,
         .self_cpu_time_us = static_cast<double>(i),
         .sample_count = 900});
    tables.ranges.push_back({.key = "step " + std::to_string(i),
                             .count = 3,
                             .cpu_time_total_us = 30.0 * i,
                             .self_cpu_time_total_us = 10.0 * i});
  }
  return tables;
}

std::string Screen(const ScreenTables& tables, const ScreenOptions& options,
                   TestTrace t = TestTrace()) {
  const model::Trace trace = std::move(t).Build();
  const absl::StatusOr<std::string> screen = FirstScreen(
      trace, tables,
      {.target = "work", .wall_ns = 1'500'000'000, .cpu_ns = 20'000'000},
      options);
  EXPECT_TRUE(screen.ok()) << screen.status();
  return screen.value_or("");
}

TEST(FirstScreenTest, NoLineIsWiderThanTheTerminal) {
  TestTrace t;
  t.data().ledger.Add(model::Loss::kEventsDroppedArenaFull, 7);
  const model::Trace trace = std::move(t).Build();
  for (const size_t width : {40, 80, 120, 200}) {
    const absl::StatusOr<std::string> screen =
        FirstScreen(trace, MakeTables(), {.target = "work"}, {.width = width});
    ASSERT_TRUE(screen.ok());
    for (const std::string& line : Lines(*screen)) {
      EXPECT_LE(report::TextWidth(line), width) << line;
    }
  }
}

TEST(FirstScreenTest, WiderTerminalsShowMore) {
  const std::string narrow = Screen(MakeTables(), {.width = 80});
  const std::string middle = Screen(MakeTables(), {.width = 120});
  const std::string wide = Screen(MakeTables(), {.width = 200});
  EXPECT_THAT(narrow, HasSubstr("Self CPU %   Self CPU"));
  EXPECT_THAT(narrow, HasSubstr("function29"));
  EXPECT_THAT(narrow, Not(HasSubstr("Module")));
  EXPECT_THAT(middle, HasSubstr("libwork.so.1"));
  EXPECT_THAT(middle, Not(HasSubstr("/usr/lib")));
  EXPECT_THAT(middle, Not(HasSubstr("function29(")));
  EXPECT_THAT(wide, HasSubstr("Samples total"));
  EXPECT_THAT(wide, HasSubstr("Less<std::string>>::function29(std::string"));
}

TEST(FirstScreenTest, ShowsTheRowsThatTookMostAndCountsTheOthers) {
  const std::vector<std::string> lines =
      Lines(Screen(MakeTables(), {.width = 120, .rows = 5}));
  ASSERT_EQ(lines.size(), 19u);
  EXPECT_EQ(lines[0], "work: 1.500 s, 0.020 s of CPU; 1000 samples");
  EXPECT_THAT(lines[2], HasSubstr("Range"));
  EXPECT_THAT(lines[4], HasSubstr("step 29"));
  // 290 of 10 x (0 + ... + 29) us.
  EXPECT_THAT(lines[4], HasSubstr(" 6.67%  290.000us"));
  EXPECT_EQ(lines[9], "and 25 more");
  EXPECT_THAT(lines[11], HasSubstr("Function"));
  EXPECT_THAT(lines[13], HasSubstr("function29"));
  EXPECT_THAT(lines[13], HasSubstr(" 2.90%  29.000us"));
  EXPECT_EQ(lines[18], "and 25 more");
}

TEST(FirstScreenTest, CountsProcessesAndThreads) {
  TestTrace t;
  t.AddRange(t.AddThread(1, 1, "main"), "f", 0, 10);
  t.AddThread(1, 2, "worker");
  EXPECT_THAT(Screen(ScreenTables(), {}, std::move(t)),
              HasSubstr(", 2 threads; 1 range\n"));
}

// Two threads with a life of a second each, in a run of 1.5 s on two CPUs.
TestTrace WithThreadTimes() {
  TestTrace t;
  t.SetThreadTimes({{.track = t.AddThread(1, 1, "main"),
                     .wall_ns = 1'000'000'000,
                     .on_cpu_ns = 100'000'000,
                     .runnable_ns = 200'000'000,
                     .voluntary_switches = 17,
                     .involuntary_switches = 4},
                    {.track = t.AddThread(1, 2, "worker"),
                     .wall_ns = 1'000'000'000,
                     .on_cpu_ns = 800'000'000}},
                   /*cpu_count=*/2);
  return t;
}

TEST(FirstScreenTest, SaysHowManyCpusWereUsedAndWhatThreadsDid) {
  ScreenTables tables;
  tables.has_threads = true;
  const std::vector<std::string> lines =
      Lines(Screen(tables, {.width = 120}, WithThreadTimes()));
  ASSERT_EQ(lines.size(), 7u);
  // 0.9 s in 1.5 s.
  EXPECT_EQ(lines[1],
            "0.60 of 2 CPUs used; 2 threads were on a CPU for 45 % of their "
            "time, runnable for 10 %, blocked for 45 %");
  EXPECT_EQ(lines[3],
            "Thread  TID    Wall     On CPU   Runnable    Blocked  Voluntary  "
            "Involuntary");
  EXPECT_EQ(lines[5],
            "worker    2  1.000s  800.000ms    0.000us  200.000ms          0  "
            "          0");
  EXPECT_EQ(lines[6],
            "main      1  1.000s  100.000ms  200.000ms  700.000ms         17  "
            "          4");
  EXPECT_EQ(TableCount(tables), 1u);
}

TEST(FirstScreenTest, SaysWhatTheContainersCpuLimitDid) {
  ScreenTables tables;
  tables.has_threads = true;
  const auto lines_with = [&tables](const model::CpuLimit& limit) {
    TestTrace t = WithThreadTimes();
    t.SetCpuLimit(limit);
    return Lines(Screen(tables, {.width = 120}, std::move(t)));
  };
  const auto lines = lines_with({.quota_ns = 75 * kNsPerMs,
                                 .period_ns = 100 * kNsPerMs,
                                 .periods = 80,
                                 .throttled_periods = 41});
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_THAT(lines[1], testing::StartsWith("0.60 of 0.75 CPUs used; 2 "));
  EXPECT_EQ(lines[2],
            "CPU limit of the container (cgroup): 0.75 CPUs; it stopped "
            "threads in 41 of 80 periods of 100 ms");
  // More than there are.
  const auto wide = lines_with(
      {.quota_ns = 1000 * kNsPerMs, .period_ns = 250 * kNsPerMs, .periods = 1});
  EXPECT_THAT(wide[1], testing::StartsWith("0.60 of 2 CPUs used; 2 "));
  EXPECT_EQ(wide[2],
            "CPU limit of the container (cgroup): 4 CPUs; it stopped no "
            "thread");
}

TEST(FirstScreenTest, ProgramsComeFirstIfThereAreSeveral) {
  TestTrace t;
  t.AddProcess(1, "make");
  t.AddProcess(2, "cc1");
  const auto make = t.AddThread(1, 1, "make");
  const auto cc1 = t.AddThread(2, 2, "cc1");
  t.SetThreadTimes(
      {{.track = make, .wall_ns = 1'000'000'000, .on_cpu_ns = 100'000'000},
       {.track = cc1, .wall_ns = 900'000'000, .on_cpu_ns = 900'000'000}});
  const std::vector<std::string> lines =
      Lines(Screen(ScreenTables(), {.width = 120}, std::move(t)));
  ASSERT_GT(lines.size(), 6u);
  EXPECT_EQ(lines[3],
            "Program  Processes  Threads   CPU %     On CPU  Runnable    "
            "Blocked");
  EXPECT_EQ(lines[5],
            "cc1              1        1  90.00%  900.000ms   0.000us    "
            "0.000us");
  EXPECT_EQ(lines[6],
            "make             1        1  10.00%  100.000ms   0.000us  "
            "900.000ms");
}

TEST(FirstScreenTest, ThreadsThatDoNotFitAreCounted) {
  ScreenTables tables;
  tables.has_threads = true;
  const std::vector<std::string> lines =
      Lines(Screen(tables, {.width = 40, .rows = 1}, WithThreadTimes()));
  EXPECT_EQ(lines.back(), "and 1 more");
  for (const std::string& line : lines) {
    EXPECT_LE(report::TextWidth(line), 40u) << line;
  }
}

TEST(FirstScreenTest, SaysWhatIsUnknownOfThreads) {
  TestTrace t;
  t.SetThreadTimes({{.track = t.AddThread(1, 1, "main"),
                     .wall_ns = 1'000'000'000,
                     .on_cpu_ns = 100'000'000,
                     .unknown_ns = 500'000'000}});
  ScreenTables tables;
  tables.has_threads = true;
  EXPECT_EQ(Lines(Screen(tables, {.width = 200}, std::move(t)))[1],
            "0.07 CPUs used; 1 thread was on a CPU for 10 % of its time, "
            "runnable for 0 %, unknown for 50 %, blocked for 40 %");
}

TEST(FirstScreenTest, CountsEachKindOfEventByItself) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "f", 0, 10);
  t.AddRange(main, "g", 2, 4);
  t.AddInstant(main, "mark", 3);
  const auto stream = t.AddStream(1, 0, 7);
  for (int i = 0; i < 5; ++i) t.AddRange(stream, "kernel", 10 * i, 10 * i + 9);
  ScreenTables tables;
  tables.allocations = 12;
  EXPECT_THAT(Screen(tables, {.width = 200}, std::move(t)),
              HasSubstr(", 1 thread; 2 ranges, 1 mark, 5 device events, 12 "
                        "allocations\n"));
}

TEST(FirstScreenTest, SaysHowATargetEndedThatFailed) {
  const model::Trace trace = TestTrace().Build();
  // As the kernel packs them: the status in bits 8 to 15, the signal below.
  const std::pair<int, const char*> ends[] = {
      {0, " of CPU\n"},
      {3 << 8, " of CPU; exit status 3\n"},
      {11, " of CPU; killed by signal 11 (Segmentation fault)\n"},
      {31,
       " of CPU; killed by signal 31 (Bad system call); its filter of system "
       "calls (seccomp) may forbid what Kymo does in it\n"},
      {159 << 8,
       " of CPU; exit status 159, perhaps of a shell whose child was killed by "
       "signal 31 (Bad system call); its filter of system calls (seccomp) may "
       "forbid what Kymo does in it\n"}};
  for (const auto& [wait_status, text] : ends) {
    EXPECT_THAT(
        *FirstScreen(trace, {}, {.wait_status = wait_status}, {.width = 300}),
        HasSubstr(text));
  }
}

TEST(FirstScreenTest, SharesOfNothingAreNoNumbers) {
  ScreenTables tables;
  tables.ranges.push_back({.key = "mark", .count = 1});
  const std::string screen = Screen(tables, {.width = 80});
  EXPECT_THAT(screen, Not(HasSubstr("NaN")));
  EXPECT_THAT(screen, ::testing::ContainsRegex("mark +- "));
}

TEST(FirstScreenTest, NothingRecordedIsSaid) {
  EXPECT_THAT(Screen(ScreenTables(), {}),
              HasSubstr("no annotated range ran, and no sample"));
}

TEST(FirstScreenTest, NamesCannotDriveTheTerminal) {
  ScreenTables tables;
  tables.ranges.push_back({.key = "a\033[2Jb\nc", .self_cpu_time_total_us = 1});
  const std::string screen = Screen(tables, {.width = 80});
  EXPECT_THAT(screen, Not(HasSubstr("\033")));
  EXPECT_THAT(screen, Not(HasSubstr("b\nc")));
}

TEST(FirstScreenTest, MemoryIsCutToTheScreen) {
  ScreenTables tables;
  for (int i = 0; i < 50; ++i) tables.memory += std::string(90, 'm') + "\n";
  const std::string screen = Screen(tables, {.width = 80});
  EXPECT_THAT(screen,
              HasSubstr("\n" + std::string(80, 'm') + "\nand 30 more lines\n"));
}

TEST(FirstScreenTest, FindingsAreSentencesBelowTheTables) {
  ScreenTables tables = MakeTables();
  tables.findings = {
      "Parse took 62 % of the CPU time (1.21 s); 80 % of that "
      "when Read called it",
      "a\x1b[2J"};
  const std::vector<std::string> lines = Lines(Screen(tables, {.width = 60}));
  ASSERT_GT(lines.size(), 3u);
  EXPECT_THAT(
      std::vector<std::string>(lines.end() - 4, lines.end()),
      ElementsAre("",
                  "Finding: Parse took 62 % of the CPU time (1.21 s); 80 % of",
                  "  that when Read called it", "Finding: a\\x1b[2J"));
}

TEST(FirstScreenTest, AtMostThreeFindingsAndNoLossesAreShown) {
  TestTrace t;
  t.SetWindow(0, kNsPerSecond);
  const auto main = t.AddThread(7, 7, "main");
  t.SetThreadTimes({{.track = main, .wall_ns = kNsPerSecond}});
  t.data().ledger.Add(model::Loss::kEventsDroppedArenaFull, 100);
  for (int kind = 0; kind < 5; ++kind) {
    // Locks, sleeps, reads and writes.
    t.AddWait({.track = main,
               .kind = static_cast<model::WaitKind>(kind),
               .begin_ns = kind * 200 * kNsPerMs,
               .duration_ns = (100 + kind) * kNsPerMs},
              {"f" + std::to_string(kind)});
  }
  const model::Trace trace = std::move(t).Build();
  const std::vector<std::string> titles =
      FindingsToShow(trace, analysis::LazyMemoryProfiles(trace));
  ASSERT_EQ(titles.size(), 3u);
  EXPECT_THAT(titles[0], HasSubstr("in f4 (read)"));
}

TEST(LossesThatMatterTest, WhatChangesNoNumberIsNotShown) {
  TestTrace t;
  t.data().ledger.Add(model::Loss::kFramesUnresolved, 39);
  t.data().ledger.Add(model::Loss::kArgumentsTruncated, 2);
  t.data().ledger.Add(model::Loss::kRangesOpenAtEnd, 3);
  EXPECT_THAT(LossesThatMatter(std::move(t).Build()), IsEmpty());
}

TEST(LossesThatMatterTest, NotesThatChangeTheAnswerAreShown) {
  TestTrace t;
  t.data().ledger.Add(model::Loss::kSamplesAtSwitches, 30);
  EXPECT_THAT(LossesThatMatter(std::move(t).Build()),
              ElementsAre(HasSubstr("Note: 30 samples where the kernel")));
}

TEST(LossesThatMatterTest, FewOfManySamplesAreNotShown) {
  for (const int lost : {4, 10}) {
    TestTrace t;
    t.data().samples.resize(90);
    t.data().ledger.Add(model::Loss::kSamplesNotDelivered, lost);
    const auto lines = LossesThatMatter(model::Trace(std::move(t.data())));
    if (lost == 4) {
      EXPECT_THAT(lines, IsEmpty());  // 4 of 94
    } else {
      EXPECT_THAT(lines, ElementsAre(HasSubstr("Lost: 10 (10 %) samples")));
    }
  }
}

// Two samples, and 98 of 100 allocations with whole stacks.
TEST(LossesThatMatterTest, TruncatedStacksAreAShareOfAllStacks) {
  TestTrace t;
  const model::StackId stack = t.data().stacks.Push(
      model::kEmptyStack,
      t.data().stacks.AddFrame({.function = t.Intern("main")}));
  t.data().samples.resize(2);
  t.data().memory.resize(100, {.stack = stack});
  t.data().ledger.Add(model::Loss::kStacksTruncated, 2);
  EXPECT_THAT(LossesThatMatter(model::Trace(std::move(t.data()))), IsEmpty());
}

// One or five of 100 folded allocations; another 50 have no stacks.
TEST(LossesThatMatterTest, TruncatedStacksAreAShareOfFoldedStacks) {
  for (const int truncated : {1, 5}) {
    TestTrace t;
    const model::StackId stack = t.data().stacks.Push(
        model::kEmptyStack,
        t.data().stacks.AddFrame({.function = t.Intern("main")}));
    auto folded = std::make_shared<model::FoldedMemory>();
    folded->heaps.resize(2);
    for (model::FoldedHeap& heap : folded->heaps) {
      heap.stacks.push_back({.stack = stack, .allocated = {.count = 50}});
    }
    folded->heaps[0].stacks.push_back({.allocated = {.count = 50}});
    t.data().folded_memory = folded;
    t.data().ledger.Add(model::Loss::kStacksTruncated, truncated);
    const auto lines = LossesThatMatter(model::Trace(std::move(t.data())));
    if (truncated == 1) {
      EXPECT_THAT(lines, IsEmpty());
    } else {
      EXPECT_THAT(lines, ElementsAre(HasSubstr("Lost: 5 (5 %) stacks")));
    }
  }
}

TEST(LossesThatMatterTest, SayTheShareOfEventsThatIsLost) {
  for (const auto& [lost, says] : std::map<int, const char*>{
           {300, "Lost: 300 (75 %) events"}, {1, "Lost: 1 (1.0 %) events"}}) {
    TestTrace t;
    const auto main = t.AddThread(7, 7, "main");
    for (int i = 0; i < 80; ++i) t.AddRange(main, "mm", 10 * i, 10 * i + 5);
    t.data().memory.resize(20);
    t.data().ledger.Add(model::Loss::kEventsDroppedArenaFull, lost);
    EXPECT_THAT(LossesThatMatter(std::move(t).Build()),
                ElementsAre(testing::StartsWith(says)));
  }
}

TEST(LossesThatMatterTest, AShareThatIsNotKnownIsNotSaid) {
  TestTrace t;
  t.AddRange(t.AddThread(7, 7, "main"), "mm", 10, 20);
  t.data().ledger.Add(model::Loss::kDrainBytesLost, 7);
  EXPECT_THAT(LossesThatMatter(std::move(t).Build()),
              ElementsAre(testing::StartsWith("Lost: 7 bytes")));
}

TEST(LossesThatMatterTest, AShareIsNeverZero) {
  TestTrace t;
  t.SetThreadTimes({{.track = t.AddThread(7, 7, "main"),
                     .wall_ns = 900,
                     .voluntary_switches = 5'000'000}});
  t.data().ledger.Add(model::Loss::kSwitchesLost, 7);
  EXPECT_THAT(LossesThatMatter(std::move(t).Build()),
              ElementsAre(testing::StartsWith("Lost: 7 (under 0.1 %) sw")));
}

TEST(LossesThatMatterTest, SayWhatHelps) {
  TestTrace t;
  t.data().ledger.Add(model::Loss::kEventsDroppedArenaFull, 1);
  EXPECT_THAT(LossesThatMatter(std::move(t).Build()),
              ElementsAre(HasSubstr("; give it more with --cpu_arena_mib")));
}

TEST(WhatToOpenTest, NamesTheFilesOfTheRun) {
  EXPECT_THAT(WhatToOpen({"key_averages.txt", "trace.json"}, "out"),
              ElementsAre("timeline: open out/trace.json in "
                          "https://ui.perfetto.dev",
                          "all tables: out/key_averages.txt"));
  EXPECT_THAT(
      WhatToOpen({"tensorboard/host.pt.trace.json", "trace.json.bak"}, "out"),
      ElementsAre("TensorBoard: tensorboard --logdir out/tensorboard"));
}

TEST(WhatToOpenTest, FilesThatCouldNotBeWrittenAreCounted) {
  EXPECT_EQ(WhatWasWritten(9, 9, "out"), "wrote out");
  EXPECT_EQ(WhatWasWritten(6, 9, "out"), "wrote 6 of 9 files into out");
}

TEST(WhatToOpenTest, OfATimelineInPartsNamesTheFirst) {
  EXPECT_THAT(WhatToOpen({"trace.steps_15-24.json.gz", "report.html",
                          "trace.steps_5-14.json.gz", "memory_timeline.html",
                          "stacks.speedscope.json", "key_averages.txt"},
                         "out"),
              ElementsAre(HasSubstr("/report.html in a browser"),
                          HasSubstr("/trace.steps_5-14.json.gz and the parts"),
                          HasSubstr("/memory_timeline.html in a browser"),
                          HasSubstr("all tables: ")));
}

TEST(ProgressBarTest, FillsUp) {
  EXPECT_EQ(ProgressBar(0), "[                    ]   0 %");
  EXPECT_EQ(ProgressBar(0.43), "[########            ]  43 %");
  EXPECT_EQ(ProgressBar(1.5), "[####################] 100 %");
}

}  // namespace
}  // namespace kymo::tools
