#include "tools/report_command/deliver.h"

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/test_importer.h"
#include "tests/support/test_trace.h"
#include "tools/report_command/sample_rows.h"

namespace kymo::tools {
namespace {

class DeliverTest : public ::testing::Test {
 protected:
  DeliverTest() {
    EXPECT_TRUE(importers_.Register(std::make_unique<FakeImporter>()).ok());
    command_.table.sort_by = "auto";
  }
  LoadedTrace LoadLines(const std::string& name, const std::string& lines) {
    auto loaded = Load({WriteFake(name, lines)}, {}, importers_);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return *std::move(loaded);
  }

  ImporterRegistry importers_;
  ReportCommand command_;
};

constexpr char kLines[] =
    "range outer 7 1 1000 9000\n"
    "range inner 7 1 2000 5000\n";

TEST_F(DeliverTest, PrintsPyTorchsTable) {
  const auto text = TablesText(LoadLines("t", kLines), command_);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(
      *text,
      R"(---------  ------------  ------------  ------------  ------------  ------------  ------------  
     Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  
---------  ------------  ------------  ------------  ------------  ------------  ------------  
    outer        62.50%       5.000us       100.00%       8.000us       8.000us             1  
    inner        37.50%       3.000us        37.50%       3.000us       3.000us             1  
---------  ------------  ------------  ------------  ------------  ------------  ------------  
Self CPU time total: 8.000us
)");
}

TEST_F(DeliverTest, FiltersLeaveTimesAsTheyAre) {
  command_.filter.name = "outer";
  const auto text = TablesText(LoadLines("t", kLines), command_);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_NE(text->find("Self CPU time total: 5.000us"), std::string::npos)
      << *text;
  EXPECT_EQ(text->find("inner"), std::string::npos);
}

TEST_F(DeliverTest, SingleEventsAreRows) {
  command_.rows.single_events = true;
  command_.format = TextFormat::kCsv;
  const auto text = TablesText(
      LoadLines("t", "range a 7 1 1000 2000\nrange a 7 1 2000 2500\n"),
      command_);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_NE(text->find("a,,false,false,false,-1,1,1,1,"), std::string::npos)
      << *text;
  EXPECT_NE(text->find("a,,false,false,false,-1,1,0.5,0.5,"),
            std::string::npos);
}

// A rule of PyTorch's event list, remove_dup_nodes: a range and the only range
// in it are one if they have one name.
TEST_F(DeliverTest, RecursionCountsUnlessPyTorchRecordedIt) {
  constexpr char kRecursion[] =
      "range f 7 1 1000 9000\n"
      "range f 7 1 2000 8000\n"
      "range f 7 1 3000 7000\n";
  command_.format = TextFormat::kCsv;
  const auto program = TablesText(LoadLines("t", kRecursion), command_);
  ASSERT_TRUE(program.ok()) << program.status();
  // Total: 8 + 6 + 4 us; self: 2 + 2 + 4 us.
  EXPECT_NE(program->find("f,,false,false,false,-1,3,18,8,"), std::string::npos)
      << *program;
  const LoadedTrace of_pytorch =
      LoadLines("p", std::string("pytorch\n") + kRecursion);
  const auto pytorch = TablesText(of_pytorch, command_);
  ASSERT_TRUE(pytorch.ok()) << pytorch.status();
  EXPECT_NE(pytorch->find("f,,false,false,false,-1,1,8,8,"), std::string::npos)
      << *pytorch;
  command_.rows.single_events = true;
  EXPECT_EQ(TablesText(of_pytorch, command_)->find("f,"),
            TablesText(of_pytorch, command_)->rfind("f,"));
}

TEST_F(DeliverTest, JsonHasFilesRowsAndLedger) {
  command_.format = TextFormat::kJson;
  const auto text = TablesText(LoadLines("t", kLines), command_);
  ASSERT_TRUE(text.ok()) << text.status();
  for (const char* const part :
       {"\"importer\": \"fake\"", "\"self_cpu_time_total_us\": 5",
        "\"ledger\""}) {
    EXPECT_NE(text->find(part), std::string::npos) << part << *text;
  }
}

TEST_F(DeliverTest, ComparesTwoTraces) {
  const LoadedTrace before = LoadLines("b", kLines);
  const LoadedTrace after =
      LoadLines("a", "range outer 7 1 1000 10000\nrange inner 7 1 2000 7000\n");
  const auto text = DiffText(before.trace, after.trace, command_);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_NE(text->find("1 slower, 1 faster, 0 new, 0 gone, 0 same"),
            std::string::npos)
      << *text;
  const std::string lengths = "Wall time of the recordings: 8.000us -> 9.000us";
  EXPECT_TRUE(text->starts_with(lengths)) << *text;
  // Of a part, nobody can tell.
  command_.filter.name = "outer";
  EXPECT_EQ(DiffText(before.trace, after.trace, command_)->find("Wall time"),
            std::string::npos);
}

// Sampled: f 3 us, g 1 us; the second thread g 2 us.
constexpr char kSamples[] =
    "sample f 7 1 1000 1000 /old/app\n"
    "sample f 7 1 2000 2000 /old/app\n"
    "sample g 7 1 4000 1000 /old/app\n"
    "sample g 7 2 5000 2000 /old/app\n";

TEST_F(DeliverTest, SamplesAreInEveryFormat) {
  const LoadedTrace loaded = LoadLines("t", kSamples);
  const auto text = TablesText(loaded, command_);
  EXPECT_NE(text->find("Number of samples: 4"), std::string::npos) << *text;
  command_.format = TextFormat::kCsv;
  EXPECT_EQ(*TablesText(loaded, command_),
            "name,module,samples,cpu_time_total_us,self_cpu_time_total_us\r\n"
            "f,/old/app,2,3,3\r\n"
            "g,/old/app,2,3,3\r\n"
            "main,/old/app,4,6,0\r\n");
  command_.table.row_limit = 1;
  command_.table.sort_by = "cpu_time_total";
  command_.format = TextFormat::kJson;
  const auto json = TablesText(loaded, command_);
  EXPECT_NE(json->find(R"("sampled_functions": [
    {
      "name": "main",
      "module": "/old/app",
      "samples": 4,
      "cpu_time_total_us": 6,
      "self_cpu_time_total_us": 0
    }
  ])"),
            std::string::npos)
      << *json;
}

TEST_F(DeliverTest, FiltersChooseSamplesAndFunctions) {
  const LoadedTrace loaded = LoadLines("t", kSamples);
  command_.format = TextFormat::kCsv;
  const auto rows_with = [&](const EventFilter& filter) {
    command_.filter = filter;
    const std::string csv = *TablesText(loaded, command_);
    return csv.substr(csv.find("\r\n") + 2);
  };
  EXPECT_EQ(rows_with({.threads = {"2"}}),
            "g,/old/app,1,2,2\r\nmain,/old/app,1,2,0\r\n");
  EXPECT_EQ(rows_with({.name = "^main$"}), "main,/old/app,4,6,0\r\n");
  EXPECT_EQ(rows_with({.name = "^f", .categories = {"cpu_sample"}}),
            "f,/old/app,2,3,3\r\n");
  EXPECT_EQ(rows_with({.categories = {"kernel"}}), "");
}

TEST_F(DeliverTest, ComparesSampledFunctions) {
  const LoadedTrace before = LoadLines("b", kSamples);
  const LoadedTrace after = LoadLines(
      "a",
      "sample f 7 1 1000 9000 /new/app\nsample g 7 1 10000 3000 /new/app\n");
  const auto text = DiffText(before.trace, after.trace, command_);
  ASSERT_TRUE(text.ok()) << text.status();
  // f 3 -> 9 us; g and main 3 and 0 as before.
  EXPECT_NE(text->find("1 slower, 0 faster, 0 new, 0 gone, 2 same"),
            std::string::npos)
      << *text;
  EXPECT_NE(text->find("self_cpu_time_total: 6.000us -> 12.000us"),
            std::string::npos)
      << *text;
  command_.format = TextFormat::kJson;
  const auto json = DiffText(before.trace, after.trace, command_);
  EXPECT_NE(json->find(R"("sampled_functions": {
    "metric": "self_cpu_time_total",
    "slower": 1,)"),
            std::string::npos)
      << *json;
  // Samples are counted of the time that is compared.
  const auto row_of_main = [&](const char* metric) {
    command_.format = TextFormat::kCsv;
    command_.table.sort_by = metric;
    const std::string csv = *DiffText(before.trace, after.trace, command_);
    const size_t at = csv.find("main,");
    return csv.substr(at, csv.find("\r\n", at) - at);
  };
  EXPECT_EQ(row_of_main("self_cpu_time_total"), "main,app,same,0,0,0,0,0");
  EXPECT_EQ(row_of_main("cpu_time_total"), "main,app,slower,6,12,6,4,2");
}

// A thread that waits in `load` for so long, and the rest for work.
LoadedTrace Waiting(TimeNs read_ns) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.AddRange(main, "load", 0, 10'000);
  t.SetThreadTimes({{.track = main, .wall_ns = 20'000}});
  t.AddWait({.track = main,
             .kind = model::WaitKind::kRead,
             .begin_ns = 1'000,
             .duration_ns = read_ns},
            {"main", "Load"});
  t.AddWait({.track = main,
             .kind = model::WaitKind::kPoll,
             .begin_ns = 12'000,
             .duration_ns = 5'000},
            {"main", "NextTask"});
  return {.trace = std::move(t).Build(), .files = {}};
}

TEST_F(DeliverTest, ComparesWaits) {
  const LoadedTrace before = Waiting(2'000);
  const LoadedTrace after = Waiting(5'000);
  command_.table.sort_by = "wait_time_total";
  const auto text = DiffText(before.trace, after.trace, command_);
  ASSERT_TRUE(text.ok()) << text.status();
  // The range, and then the places.
  EXPECT_NE(text->find("load        slower       2.000us       5.000us"),
            std::string::npos)
      << *text;
  EXPECT_NE(text->find("\nWhere it waited\n"), std::string::npos) << *text;
  EXPECT_NE(text->find("Load             read        slower       2.000us"),
            std::string::npos)
      << *text;
  EXPECT_NE(text->find("NextTask       poll, idle          same"),
            std::string::npos)
      << *text;
  EXPECT_NE(text->find("wait_time_total: 7.000us -> 10.000us (+3.000us"),
            std::string::npos)
      << *text;
  command_.format = TextFormat::kJson;
  const auto json = DiffText(before.trace, after.trace, command_);
  EXPECT_NE(json->find(R"("waits": {
    "metric": "wait_time_total",
    "slower": 1,)"),
            std::string::npos)
      << *json;
  // Filters choose events, not waits.
  command_.filter.name = "load";
  EXPECT_EQ(DiffText(before.trace, after.trace, command_)->find("\"waits\""),
            std::string::npos);
}

// The main programs may have different files, the others may not.
TEST_F(DeliverTest, WaitsOfOtherProgramsHaveTheirFile) {
  const auto waiting = [](std::string_view main_file, DurationNs duration_ns) {
    TestTrace t;
    const auto main = t.AddThread(7, 7, "bench");
    t.SetThreadTimes({{.track = main, .wall_ns = 100'000}});
    t.AddSample(main, 1, 1'000, {"main"}, main_file);
    t.AddWait({.track = main,
               .kind = model::WaitKind::kSleep,
               .duration_ns = duration_ns},
              {"main", "Serve"});
    return std::move(t).Build();
  };
  const model::Trace before = waiting("/bin/bench.old", 1'000);
  const auto text = DiffText(before, waiting("/bin/bench", 2'000), command_);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_NE(text->find("sleep (app)"), std::string::npos) << *text;
  // Of the main program itself.
  const auto own = DiffText(waiting("/bin/app", 1'000),
                            waiting("/bin/app", 2'000), command_);
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own->find("(app)"), std::string::npos) << *own;
}

// Not the one with most samples.
TEST_F(DeliverTest, TheMainProgramIsTheOneThatStartedTheOthers) {
  const auto main_of = [](int64_t app_pid, int64_t child_parent) {
    TestTrace t;
    t.AddProcess(app_pid, "app");
    t.AddProcess(8, "child");
    t.data().processes[1].parent_pid = child_parent;
    const auto child = t.AddThread(8, 8, "child");
    const auto main = t.AddThread(app_pid, app_pid, "app");
    t.AddSample(child, 1, 9'000, {"main"}, "/bin/child");
    t.AddSample(main, 1, 1'000, {"main"}, "/bin/app");
    const model::Trace trace = std::move(t).Build();
    return MainModule(trace, *ChosenSamples(trace, {}));
  };
  EXPECT_EQ(main_of(9, /*child_parent=*/9), "/bin/app");
  EXPECT_EQ(main_of(7, /*child_parent=*/0), "/bin/app");  // nobody knows
}

TEST_F(DeliverTest, RangesAreSortedByTheirWaits) {
  command_.table.sort_by = "wait_time_total";
  const auto text = TablesText(Waiting(2'500), command_);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_NE(text->find("     7.500us       2.500us        25.00%"),
            std::string::npos)
      << *text;
  command_.format = TextFormat::kCsv;
  EXPECT_NE(TablesText(Waiting(2'500), command_)->find("wait_time_total_us"),
            std::string::npos);
  EXPECT_EQ(TablesText(LoadLines("t", kLines), command_)->find("wait_time"),
            std::string::npos);
}

TEST_F(DeliverTest, TheHeapIsShownOfAWholeTraceOfKymo) {
  const auto text_of = [&](bool is_of_pytorch) {
    TestTrace t;
    const auto main = t.AddThread(7, 7, "main");
    t.AddRange(main, "work", 100, 200);
    t.data().memory.push_back({.track = main,
                               .source = model::MemorySource::kHeap,
                               .time_ns = 150,
                               .address = 16,
                               .bytes = 1024});
    if (is_of_pytorch) t.AddMetadata("kymo_recorded_by", "\"PyTorch\"");
    return *TablesText({.trace = std::move(t).Build()}, command_);
  };
  constexpr char kTitle[] = "Memory of ";
  EXPECT_NE(text_of(false).find(kTitle), std::string::npos) << text_of(false);
  EXPECT_EQ(text_of(true).find(kTitle), std::string::npos);
  command_.filter.name = "work";
  EXPECT_EQ(text_of(false).find(kTitle), std::string::npos);
}

// Two builds of a program, and a library that was replaced.
TEST_F(DeliverTest, TheMainProgramIsOneWhateverItsFileIsCalled) {
  const auto built = [](const char* file, const char* library) {
    TestTrace t;
    const std::string path = std::string("/x/") + file;
    t.AddProcess(1, std::string("./") + file + " --fast");
    const model::TrackIndex main = t.AddThread(1, 1, "main");
    t.AddSample(main, 10, 1000, {"main", "work"}, path);
    t.AddSample(main, 20, 1000, {"inner"}, library);
    t.data().sampling_period_ns = 2 * kNsPerMs;
    return std::move(t).Build();
  };
  const model::Trace before = built("bench.old", "/lib/liba.so.1");
  const model::Trace after = built("bench", "/lib/liba.so.2");
  command_.diff = true;
  command_.format = TextFormat::kJson;
  const std::string text = *DiffText(before, after, command_);
  EXPECT_EQ(text.find("bench.old"), std::string::npos) << text;
  EXPECT_NE(text.find("liba.so.1"), std::string::npos) << text;
  const RunAmounts base = *AmountsOfRun(before, command_);
  const RunAmounts head = *AmountsOfRun(after, command_);
  EXPECT_TRUE(base.contains({RunTable::kFunctions, "work"}));
  EXPECT_TRUE(head.contains({RunTable::kFunctions, "work"}));
  EXPECT_FALSE(base.contains({RunTable::kFunctions, "inner"}));
  EXPECT_EQ(base.sample_us, 2000);
  command_.diff = false;
  EXPECT_TRUE(AmountsOfRun(before, command_)
                  ->contains({RunTable::kFunctions, "work", "bench.old"}));
}

// A table of events in CSV has no room for another of functions.
TEST_F(DeliverTest, CsvIsOneTable) {
  command_.format = TextFormat::kCsv;
  const auto first_word = [&](const std::string& lines) {
    const std::string csv = *TablesText(LoadLines("t", lines), command_);
    const size_t begin = csv.find("\r\n") + 2;
    return csv.substr(begin, csv.find(',', begin) - begin);
  };
  EXPECT_EQ(first_word(std::string(kSamples) + "range a 7 1 1000 2000\n"), "a");
  EXPECT_EQ(first_word(kSamples), "f");
  EXPECT_TRUE(TablesText(LoadLines("t", ""), command_)
                  ->starts_with("name,overload_name,"));
}

TEST_F(DeliverTest, AnEmptyTraceSaysSo) {
  const auto text = TablesText(LoadLines("t", ""), command_);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "No events.\n");
}

}  // namespace
}  // namespace kymo::tools
