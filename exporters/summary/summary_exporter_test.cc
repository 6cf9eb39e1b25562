// Long, because each case is a trace, written out.
#include "exporters/summary/summary_exporter.h"

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/summary/averages_section.h"
#include "exporters/timeline/test_whole_trace.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/analysis/ranks/rank_sums.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

std::string Summary(const model::Trace& trace) {
  return Export(*NewSummaryExporter(), trace)["summary.json"];
}

TEST(SummaryExporterTest, Golden) {
  TestTrace t;
  t.SetWindow(1'000, 2'000);
  t.AddProcess(10, "xz");
  const auto main = t.AddThread(10, 10, "xz");
  t.AddAnnotation(main, "forward", 1'100, 1'900);
  t.AddRange(main, "mat\"mul", 1'200, 1'700);
  t.AddSample(main, 1'300, 100, {"main", "encode"}, "/usr/bin/xz");
  const auto stream = t.AddStream(0, 7);
  t.AddRange(stream, "k", 1'500, 1'600, model::ActivityType::kConcurrentKernel);
  t.AddMetadata("broken", "{");
  t.AddMetadata("host_name", "\"n1\"");
  t.data().sampling_period_ns = 100;
  t.data().ledger.Add(model::Loss::kSamplesLost, 12);
  const std::string text = Summary(std::move(t).Build());
  ParseJson(text);
  ExpectGolden(text, "exporters/summary/testdata/small.golden.json");
}

TEST(SummaryExporterTest, EmptyTraceIsValid) {
  const auto json = ParseJson(Summary(TestTrace().Build()));
  EXPECT_EQ(json.fields().at("schema_version").number_value(), 1);
  EXPECT_EQ(json.fields().at("key_averages").list_value().values_size(), 0);
  EXPECT_EQ(json.fields().at("ledger").list_value().values_size(),
            static_cast<int>(model::Loss::kCount));
  EXPECT_FALSE(json.fields().at("anything_lost").bool_value());
}

TEST(SummaryExporterTest, CountersHaveTheirRangeMeanAndLastValue) {
  TestTrace t;
  t.SetWindow(0, 100);
  t.AddProcess(7, "app");
  const auto main = t.AddThread(7, 8, "app");
  t.AddCounter(main, "queue \"a\"", 20, 1);
  t.AddCounter(main, "queue \"a\"", 40, 5);
  t.AddCounter(main, "queue \"a\"", 80, 2);
  const auto json = ParseJson(Summary(std::move(t).Build()));
  const auto& counters = json.fields().at("counters").list_value();
  ASSERT_EQ(counters.values_size(), 1);
  const auto& counter = counters.values(0).struct_value().fields();
  EXPECT_EQ(counter.at("pid").number_value(), 7);
  EXPECT_EQ(counter.at("tid").number_value(), 8);
  EXPECT_EQ(counter.at("name").string_value(), "queue \"a\"");
  EXPECT_EQ(counter.at("samples").number_value(), 3);
  EXPECT_EQ(counter.at("min").number_value(), 1);
  // (1 * 20 + 5 * 40 + 2 * 20) / 80
  EXPECT_EQ(counter.at("mean").number_value(), 3.25);
  EXPECT_EQ(counter.at("max").number_value(), 5);
  EXPECT_EQ(counter.at("last").number_value(), 2);
}

TEST(SummaryExporterTest, ThreadsHaveTheirTimesWhereTheyAreKnown) {
  TestTrace t;
  t.AddThread(7, 7, "main");
  const auto worker = t.AddThread(7, 8, "worker");
  t.SetThreadTimes({{.track = worker,
                     .wall_ns = 900,
                     .on_cpu_ns = 500,
                     .runnable_ns = 90,
                     .unknown_ns = 7,
                     .open_wait_ns = 3,
                     .voluntary_switches = 8,
                     .involuntary_switches = 4,
                     .run_queue = model::RunQueueTime::kLastKnown}});
  const auto json = ParseJson(Summary(std::move(t).Build()));
  const auto& threads = json.fields().at("threads").list_value();
  ASSERT_EQ(threads.values_size(), 2);
  EXPECT_FALSE(threads.values(0).struct_value().fields().contains("wall_ns"));
  const auto& times = threads.values(1).struct_value().fields();
  EXPECT_EQ(times.at("tid").number_value(), 8);
  const std::map<std::string, double> expected = {
      {"wall_ns", 900},          {"on_cpu_ns", 500},
      {"runnable_ns", 90},       {"blocked_ns", 303},
      {"unknown_ns", 7},         {"open_wait_ns", 3},
      {"voluntary_switches", 8}, {"involuntary_switches", 4}};
  for (const auto& [name, value] : expected) {
    EXPECT_EQ(times.at(name).number_value(), value) << name;
  }
  EXPECT_EQ(times.at("run_queue").string_value(), "last known");
}

TEST(SummaryExporterTest, ALimitOfCpuTimeIsThereIfItIsKnown) {
  TestTrace t;
  t.SetThreadTimes({{.track = t.AddThread(7, 7, "main"), .wall_ns = 900}});
  EXPECT_FALSE(
      ParseJson(Summary(std::move(t).Build())).fields().contains("cpu_limit"));
  TestTrace limited;
  limited.SetCpuLimit({.quota_ns = 150,
                       .period_ns = 100,
                       .periods = 9,
                       .throttled_periods = 4,
                       .throttled_ns = 70});
  const auto json = ParseJson(Summary(std::move(limited).Build()));
  const auto& limit = json.fields().at("cpu_limit").struct_value().fields();
  const std::map<std::string, double> expected = {
      {"cpus", 1.5},  {"quota_ns", 150},        {"period_ns", 100},
      {"periods", 9}, {"throttled_periods", 4}, {"throttled_ns", 70}};
  EXPECT_EQ(limit.size(), expected.size());
  for (const auto& [name, value] : expected) {
    EXPECT_EQ(limit.at(name).number_value(), value) << name;
  }
}

TEST(SummaryExporterTest, KymosOwnCpuTimeIsThereIfItIsKnown) {
  for (const DurationNs cpu_ns : {0, 40}) {
    TestTrace t;
    t.SetThreadTimes({{.track = t.AddThread(7, 7, "main"), .wall_ns = 900}});
    t.SetKymoCpu(cpu_ns);
    const auto json = ParseJson(Summary(std::move(t).Build()));
    ASSERT_EQ(json.fields().contains("kymo_cpu_ns"), cpu_ns != 0);
    if (cpu_ns == 0) continue;
    EXPECT_EQ(json.fields().at("kymo_cpu_ns").number_value(), 40);
  }
}

TEST(SummaryExporterTest, WaitsAreNumbers) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.AddRange(main, "step", 0, 1'000);
  t.SetThreadTimes({{.track = main, .wall_ns = 2'000}});
  t.SetMinWait(5);
  t.AddWait({.track = main,
             .kind = model::WaitKind::kLock,
             .begin_ns = 100,
             .duration_ns = 300,
             .runnable_ns = 20,
             .object = 0x1f,
             .waker = main,
             .waker_stack = t.Stack({"main", "Put"})},
            {"main", "Get"});
  t.AddWait({.track = main,
             .kind = model::WaitKind::kPoll,
             .begin_ns = 1'100,
             .duration_ns = 700});
  const auto json = ParseJson(Summary(std::move(t).Build()));
  const auto& waits = json.fields().at("waits").struct_value().fields();
  EXPECT_EQ(waits.at("idle_ns").number_value(), 700);
  EXPECT_EQ(waits.at("min_wait_ns").number_value(), 5);
  const auto lock_ns = [](const auto& object) {
    const auto& kinds = object.at("blocked_ns").struct_value().fields();
    EXPECT_EQ(kinds.size(), 1u);
    return kinds.at("lock").number_value();
  };
  EXPECT_EQ(lock_ns(waits), 280);
  EXPECT_EQ(waits.at("place_count").number_value(), 2);
  const auto& places = waits.at("places").list_value();
  EXPECT_TRUE(
      places.values(0).struct_value().fields().at("is_idle").bool_value());
  const auto& get = places.values(1).struct_value().fields();
  EXPECT_EQ(get.at("where").string_value(), "Get");
  EXPECT_EQ(get.at("module").string_value(), "app");
  EXPECT_EQ(get.at("kind").string_value(), "lock");
  EXPECT_EQ(get.at("count").number_value(), 1);
  EXPECT_EQ(get.at("wait_ns").number_value(), 300);
  EXPECT_EQ(get.at("longest_ns").number_value(), 300);
  EXPECT_EQ(get.at("stack").list_value().values(0).string_value(), "main");
  EXPECT_EQ(get.at("woken_in").string_value(), "Put");
  EXPECT_EQ(waits.at("lock_count").number_value(), 1);
  const auto& lock =
      waits.at("locks").list_value().values(0).struct_value().fields();
  EXPECT_EQ(lock.at("object").string_value(), "0x1f");
  EXPECT_EQ(lock.at("wait_ns").number_value(), 300);
  const auto& holder =
      lock.at("holders").list_value().values(0).struct_value().fields();
  EXPECT_EQ(holder.at("where").string_value(), "Put");
  EXPECT_EQ(holder.at("wait_ns").number_value(), 300);
  EXPECT_EQ(holder.at("stack").list_value().values(1).string_value(), "Put");
  const auto& range =
      waits.at("ranges").list_value().values(0).struct_value().fields();
  EXPECT_EQ(range.at("name").string_value(), "step");
  EXPECT_EQ(range.at("cpu_ns").number_value(), 700);
  EXPECT_EQ(range.at("runnable_ns").number_value(), 20);
  EXPECT_EQ(lock_ns(range), 280);
}

TEST(SummaryExporterTest, FindingsHaveTheirEvidence) {
  TestTrace t;
  t.SetWindow(500 * kNsPerMs, 1500 * kNsPerMs);
  const auto main = t.AddThread(7, 7, "main");
  const auto worker = t.AddThread(7, 8, "worker");
  for (int i = 0; i < 200; ++i) {
    t.AddSample(main, (500 + i) * kNsPerMs, kNsPerMs, {"main", "Parse"});
  }
  t.SetThreadTimes({{.track = worker, .wall_ns = 1000 * kNsPerMs}});
  t.AddWait({.track = worker,
             .kind = model::WaitKind::kLock,
             .begin_ns = 600 * kNsPerMs,
             .duration_ns = 300 * kNsPerMs,
             .object = 0x1f},
            {"main", "Get"});
  t.data().ledger.Add(model::Loss::kSamplesLost, 22);
  const auto json = ParseJson(Summary(std::move(t).Build()));
  const auto& findings = json.fields().at("findings").list_value();
  ASSERT_EQ(findings.values_size(), 3);
  const auto fields_of = [&](int i) -> const auto& {
    return findings.values(i).struct_value().fields();
  };
  const auto& lock = fields_of(0);
  EXPECT_EQ(lock.at("id").string_value(), "lock_contention");
  EXPECT_TRUE(lock.at("title").string_value().starts_with("Threads waited"));
  EXPECT_FALSE(lock.at("next_step").string_value().empty());
  EXPECT_EQ(lock.at("time_ns").number_value(), 3e8);
  EXPECT_FALSE(lock.contains("bytes"));
  EXPECT_EQ(lock.at("share").number_value(), 0.3);
  const auto& wait = lock.at("evidence").struct_value().fields();
  EXPECT_EQ(wait.at("kind").string_value(), "interval");
  EXPECT_EQ(wait.at("name").string_value(), "Get");
  EXPECT_EQ(wait.at("table").string_value(), "locks");
  EXPECT_EQ(wait.at("track").number_value(), worker);
  EXPECT_EQ(wait.at("pid").number_value(), 7);
  EXPECT_EQ(wait.at("tid").number_value(), 8);
  EXPECT_EQ(wait.at("begin_ns").number_value(), 1e8);
  EXPECT_EQ(wait.at("duration_ns").number_value(), 3e8);
  const auto& frames = wait.at("frames").list_value();
  ASSERT_EQ(frames.values_size(), 2);
  EXPECT_EQ(frames.values(1).string_value(), "Get");
  const auto& hot = fields_of(1);
  EXPECT_EQ(hot.at("id").string_value(), "hot_function");
  const auto& stack = hot.at("evidence").struct_value().fields();
  EXPECT_EQ(stack.at("kind").string_value(), "stack");
  EXPECT_FALSE(stack.contains("track"));
  EXPECT_FALSE(stack.contains("begin_ns"));
  const auto& lost = fields_of(2);
  EXPECT_EQ(lost.at("id").string_value(), "lost_data");
  EXPECT_FALSE(lost.contains("time_ns"));
  EXPECT_FALSE(lost.at("evidence").struct_value().fields().contains("frames"));
}

TEST(SummaryExporterTest, AQuietTraceHasNoFindings) {
  const auto json = ParseJson(Summary(TestTrace().Build()));
  EXPECT_EQ(json.fields().at("findings").list_value().values_size(), 0);
}

TEST(SummaryExporterTest, AveragesOfAllRanksStandBesideThoseOfTheTrace) {
  const auto of_rank = [](int64_t rank) {
    TestTrace t;
    const auto main = t.AddThread(10 + rank, 10 + rank, "solver");
    t.AddRange(main, "solve", 0, 100 * (rank + 1));
    return std::move(t).Build();
  };
  analysis::RankSums sums = analysis::RankSums::Of(of_rank(0), 0);
  sums.Merge(analysis::RankSums::Of(of_rank(1), 1));
  const model::Trace kept = of_rank(1);
  const auto json = ParseJson(SummaryText(kept, kept.ledger(), &sums));
  const auto& job = json.fields().at("job").struct_value().fields();
  EXPECT_EQ(job.at("ranks").list_value().values_size(), 2);
  const auto& solve =
      job.at("averages").list_value().values(0).struct_value().fields();
  EXPECT_EQ(solve.at("name").string_value(), "solve");
  const auto& totals = solve.at("totals_of_ranks").struct_value().fields();
  EXPECT_EQ(totals.at("sum_ns").number_value(), 300);
  EXPECT_EQ(totals.at("most_rank").number_value(), 1);
  EXPECT_FALSE(ParseJson(Summary(kept)).fields().contains("job"));
}

// Events that overlap stand on lanes.
TEST(SummaryExporterTest, AThreadWithLanesIsOneRow) {
  TestTrace t;
  const auto main = t.AddThread(10, 10, "solver");
  t.AddRange(main, "step", 0, 100);
  const auto lane = t.AddThread(10, 10, "solver");
  t.AddRange(lane, "request", 50, 150);
  t.AddInstant(lane, "mark", 160);
  t.AddRange(t.AddThread(10, 11, "helper"), "step", 0, 7);
  const auto json = ParseJson(Summary(std::move(t).Build())).fields();
  const auto& threads = json.at("threads").list_value();
  ASSERT_EQ(threads.values_size(), 2);
  const auto& solver = threads.values(0).struct_value().fields();
  EXPECT_EQ(solver.at("ranges").number_value(), 2);
  EXPECT_EQ(solver.at("instants").number_value(), 1);
  EXPECT_EQ(threads.values(1).struct_value().fields().at("tid").number_value(),
            11);
}

TEST(SummaryExporterTest, AJobHasItsTablesOfRanks) {
  TestTrace t;
  const auto number = [&](const char* key, int64_t value) {
    return model::Arg::Int(t.Intern(key), value);
  };
  for (int64_t rank = 0; rank < 2; ++rank) {
    const auto main = t.AddThread(10 + rank, 10 + rank, "solver");
    t.AddInstant(main, "MPI ranks", 100);
    t.Describe(0, {number("rank", rank), number("size", 2)});
    t.AddRange(main, "MPI_Barrier", 200 + 300 * rank, 600);
    t.Describe(0, {number("comm", 0)});
    t.AddRange(main, "MPI_Finalize", 1'100, 1'200);
  }
  t.SetWindow(0, 2'000);
  const auto json = ParseJson(Summary(std::move(t).Build())).fields();
  ASSERT_EQ(json.at("ranks").list_value().values_size(), 2);
  const auto& second =
      json.at("ranks").list_value().values(1).struct_value().fields();
  EXPECT_EQ(second.at("rank").number_value(), 1);
  EXPECT_EQ(second.at("wall_ns").number_value(), 1'000);
  EXPECT_EQ(second.at("mpi_share").number_value(), 0.1);
  EXPECT_EQ(second.at("finalized").string_value(), "yes");
  EXPECT_FALSE(second.contains("clock_bound_ns"));  // it was not measured
  const auto& barrier =
      json.at("collectives").list_value().values(0).struct_value().fields();
  EXPECT_EQ(barrier.at("name").string_value(), "MPI_Barrier");
  EXPECT_EQ(barrier.at("waiting_ns").number_value(), 300);
  EXPECT_EQ(barrier.at("late_rank").number_value(), 1);
  EXPECT_EQ(json.at("messages").list_value().values_size(), 0);
  EXPECT_TRUE(json.contains("mpi_waits"));
}

TEST(SummaryExporterTest, ATraceWithoutRanksHasNoTablesOfThem) {
  const auto json = ParseJson(Summary(TestTrace().Build()));
  EXPECT_FALSE(json.fields().contains("ranks"));
}

TEST(SummaryExporterTest, SumsAloneHaveAveragesCountersAndTheLedger) {
  const std::string folder = testing::TempDir() + "/sums";
  OutputDirectory out(folder);
  ASSERT_TRUE(out.CheckWritable().ok());
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 7; ++i) t.AddRange(main, "work", 10 * i, 10 * i + 5);
  t.data().ledger.Add(model::Loss::kSamplesLost, 3);
  t.AddCounter(main, "queue", 10, 1'000);
  t.AddCounter(main, "queue", 20, 500);
  analysis::WindowSums sums;
  sums.Add(std::move(t).Build(), /*is_last=*/false);
  TestTrace next;
  next.SetWindow(0, 40);
  next.AddCounter(next.AddThread(1, 1, "main"), "queue", 30, 0);
  sums.Add(std::move(next).Build(), /*is_last=*/true);
  const auto exporter = NewSummaryExporter();
  EXPECT_TRUE(exporter->info().exports_sums);
  EXPECT_EQ(exporter->BeyondSums({}), "");
  const auto names = exporter->ExportSums(sums, {}, out);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(*names, std::vector<std::string>{"summary.json"});
  std::ifstream file(folder + "/summary.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto json = ParseJson(text);
  const auto& averages = json.fields().at("key_averages").list_value();
  ASSERT_EQ(averages.values_size(), 1);
  EXPECT_EQ(
      averages.values(0).struct_value().fields().at("count").number_value(), 7);
  const auto& counters = json.fields().at("counters").list_value();
  ASSERT_EQ(counters.values_size(), 1);
  const auto& counter = counters.values(0).struct_value().fields();
  EXPECT_EQ(counter.at("tid").number_value(), 1);
  EXPECT_EQ(counter.at("name").string_value(), "queue");
  EXPECT_EQ(counter.at("samples").number_value(), 3);
  EXPECT_EQ(counter.at("mean").number_value(), 500);
  EXPECT_TRUE(json.fields().at("anything_lost").bool_value());
  EXPECT_EQ(json.fields().at("ledger").list_value().values_size(),
            static_cast<int>(model::Loss::kCount));
}

TEST(SummaryExporterTest, SamplesBesideSumsAreThere) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddSample(main, 10, 7, {"main", "f"});
  const model::Trace rest = std::move(t).Build();
  analysis::WindowSums sums;
  sums.SetRest(rest);
  MemoryDirectory out;
  ASSERT_TRUE(NewSummaryExporter()->ExportSums(sums, {}, out).ok());
  const auto json = ParseJson(out.files()["summary.json"]);
  const auto& functions = json.fields().at("sampled_functions").list_value();
  ASSERT_EQ(functions.values_size(), 2);
  EXPECT_EQ(
      functions.values(0).struct_value().fields().at("name").string_value(),
      "f");
}

TEST(SummaryExporterTest, AtMostAThousandFunctions) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 1'200; ++i) {
    t.AddSample(main, i, 1'000 + i, {"f" + std::to_string(i)});
  }
  const auto json = ParseJson(Summary(std::move(t).Build()));
  const auto& functions = json.fields().at("sampled_functions").list_value();
  ASSERT_EQ(functions.values_size(), 1'000);
  EXPECT_EQ(
      functions.values(0).struct_value().fields().at("name").string_value(),
      "f1199");
  EXPECT_EQ(json.fields().at("sampled_function_count").number_value(), 1'200);
}

TEST(SummaryExporterTest, NamesWithTheLongestTimesAreKept) {
  std::vector<analysis::KeyAverage> averages(kMaxAverages + 1);
  for (auto& average : averages) average.self_cpu_time_total_ns = 7;
  averages[1].name = "short";
  averages[1].self_cpu_time_total_ns = 6;
  averages.push_back({.name = "k", .self_device_time_total_ns = 8});
  std::string text;
  json::JsonWriter json(text);
  ExportNotes notes;
  json.BeginObject();
  model::LossLedger ledger;
  WriteAverages(averages, RangeMemory::kUnknown, kInAnyTable, ledger, &notes,
                json);
  json.EndObject();
  EXPECT_EQ(text.find("\"short\""), text.npos);
  EXPECT_NE(text.find("\"k\""), text.npos);
  EXPECT_NE(text.find("\"key_average_count\": 20002\n"), text.npos);
  EXPECT_THAT(
      notes.notices,
      testing::ElementsAre(
          "summary.json and the page have 20000 names of 20002, those with the "
          "longest self time; with --row_limit=-1, the table has a row for "
          "each"));
  EXPECT_EQ(ledger.Get(model::Loss::kNamesLeftOut), 2u);
  EXPECT_EQ(notes.ledger.Get(model::Loss::kNamesLeftOut), 2u);
}

// A later command reads only the newest ranges of a recording that was added
// up. tools/profile_command/deliver_sums_test.cc looks at the run's table.
TEST(SummaryExporterTest, NamesThatNoLaterCommandHasAreInTheRunsTable) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (size_t i = 0; i <= kMaxAverages; ++i) {
    const auto start = static_cast<TimeNs>(10 * i);
    t.AddRange(main, "n" + std::to_string(i), start, start + 5);
  }
  analysis::WindowSums sums;
  sums.Add(std::move(t).Build(), /*is_last=*/true);
  const model::Trace newest{model::TraceData()};
  for (const bool is_newest : {false, true}) {
    if (is_newest) {
      sums.SetNewest(newest);
    } else {
      sums.SetRest(newest);
    }
    ExportNotes notes;
    SumsText(sums, sums.ledger(), &notes);
    EXPECT_THAT(notes.notices, testing::ElementsAre(testing::EndsWith(
                                   is_newest ? kInTheRunsTable : kInAnyTable)));
  }
}

TEST(SummaryExporterTest, TheLedgerSaysHowManyNamesAreLeftOut) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (TimeNs i = 0; i < static_cast<TimeNs>(kMaxAverages) + 7; ++i) {
    t.AddRange(main, "n" + std::to_string(i), 10 * i, 10 * i + 5);
  }
  const auto json = ParseJson(Summary(std::move(t).Build()));
  const auto& ledger = json.fields().at("ledger").list_value();
  double left_out = 0;
  for (const auto& entry : ledger.values()) {
    const auto& fields = entry.struct_value().fields();
    if (fields.at("name").string_value() != "names_left_out") continue;
    left_out = fields.at("count").number_value();
  }
  EXPECT_EQ(left_out, 7);
}

TEST(SummaryExporterTest, RecursionCountsUnlessPyTorchRecordedIt) {
  for (const bool is_pytorch : {false, true}) {
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    for (int i = 0; i < 10; ++i) t.AddRange(main, "f", i, 100 - i);
    if (is_pytorch) t.AddMetadata("kymo_recorded_by", "\"PyTorch\"");
    const auto json = ParseJson(Summary(std::move(t).Build()));
    const auto& averages = json.fields().at("key_averages").list_value();
    ASSERT_EQ(averages.values_size(), 1);
    EXPECT_EQ(
        averages.values(0).struct_value().fields().at("count").number_value(),
        is_pytorch ? 1 : 10);
  }
}

TEST(SummaryExporterTest, AveragesAreSortedBySelfTime) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "small", 0, 10);
  t.AddRange(main, "large", 20, 100);
  const auto json = ParseJson(Summary(std::move(t).Build()));
  const auto& averages = json.fields().at("key_averages").list_value();
  EXPECT_EQ(
      averages.values(0).struct_value().fields().at("name").string_value(),
      "large");
}

// Without line breaks below the entries of the outer lists, and without the
// ledger, which has an entry for each kind of loss.
std::string Compact(std::string text) {
  const size_t ledger = text.find("  \"ledger\"");
  text.erase(ledger, text.find("  \"anything_lost\"") - ledger);
  for (size_t at = 0; (at = text.find("\n      ", at)) != text.npos;) {
    text.replace(at, text.find_first_not_of(" \n", at) - at, " ");
  }
  return text;
}

TEST(SummaryExporterTest, GoldenWhole) {
  const std::string text = Summary(WholeTrace());
  ParseJson(text);
  ExpectGolden(Compact(text), "exporters/summary/testdata/whole.golden.json");
}

// What an operation allocated is its own, and that of the ranges around it.
TEST(SummaryExporterTest, AveragesHaveTheMemoryOfTheirRanges) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "outer", 0, 100);
  t.AddRange(main, "inner", 10, 50);
  t.data().memory.push_back({.track = main, .time_ns = 20, .bytes = 64});
  t.data().memory.push_back({.track = main,
                             .device_type = 1,
                             .device_index = 0,
                             .time_ns = 60,
                             .bytes = 512});
  const auto json = ParseJson(Summary(std::move(t).Build()));
  std::map<std::string, std::vector<double>> bytes;
  for (const auto& average :
       json.fields().at("key_averages").list_value().values()) {
    const auto& fields = average.struct_value().fields();
    for (const char* key :
         {"cpu_memory_usage_bytes", "self_cpu_memory_usage_bytes",
          "device_memory_usage_bytes", "self_device_memory_usage_bytes"}) {
      bytes[fields.at("name").string_value()].push_back(
          fields.at(key).number_value());
    }
  }
  EXPECT_EQ(bytes["outer"], (std::vector<double>{64, 0, 512, 512}));
  EXPECT_EQ(bytes["inner"], (std::vector<double>{64, 64, 0, 0}));
}

}  // namespace
}  // namespace kymo
