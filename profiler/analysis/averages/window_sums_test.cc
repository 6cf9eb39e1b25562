#include "profiler/analysis/averages/window_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/averages/counter_values.h"
#include "profiler/analysis/averages/key_averages.h"
#include "profiler/model/loss_ledger.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr uint8_t kRepeated = model::kEventRepeated;

// "job" runs from 0 to 1000 and is open until the second window.
model::Trace FirstWindow() {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "job", 0, 5'000, ActivityType::kCpuOp,
             kRepeated | model::kEventOpen);
  t.AddRange(main, "read", 100, 300);
  t.AddRange(main, "copy", 150, 250);
  t.data().ledger.Add(model::Loss::kRangesOpenAtEnd, 1);
  t.data().ledger.Add(model::Loss::kRecordsCorrupt, 2);
  return std::move(t).Build();
}

model::Trace SecondWindow() {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "job", 0, 1'000);
  t.AddRange(main, "write", 400, 900, ActivityType::kCpuOp, kRepeated);
  t.AddRange(main, "copy", 500, 600);
  return std::move(t).Build();
}

WindowSums SumsOfBoth(size_t most_paths = WindowSums::kMostPaths) {
  WindowSums sums(most_paths);
  sums.Add(FirstWindow(), /*is_last=*/false);
  sums.Add(SecondWindow(), /*is_last=*/true);
  return sums;
}

// "app;job" -> self time.
std::map<std::string, DurationNs> Stacks(const WindowSums& sums) {
  std::vector<std::string> lines;
  std::map<std::string, DurationNs> stacks;
  for (const WindowSums::Path& path : sums.paths()) {
    const std::string above =
        path.parent == WindowSums::kNoPath ? "" : lines[path.parent] + ";";
    lines.push_back(above + std::string(sums.PathName(path)));
    stacks[lines.back()] += path.self_ns;
  }
  return stacks;
}

TEST(WindowSumsTest, EventsCountOnceWithTheirChildrenOfAllWindows) {
  const std::vector<KeyAverage> averages = SumsOfBoth().Averages();
  ASSERT_EQ(averages.size(), 3);
  EXPECT_EQ(averages[0].name, "job");
  EXPECT_EQ(averages[0].count, 1);
  EXPECT_EQ(averages[0].cpu_time_total_ns, 1'000);
  // "write" is repeated here: the window in which it counts takes its time from
  // "job".
  EXPECT_EQ(averages[0].self_cpu_time_total_ns, 800);
  EXPECT_EQ(averages[1].name, "read");
  EXPECT_EQ(averages[1].self_cpu_time_total_ns, 100);
  EXPECT_EQ(averages[2].name, "copy");
  EXPECT_EQ(averages[2].count, 2);
  EXPECT_EQ(averages[2].cpu_time_total_ns, 200);
  EXPECT_EQ(averages[2].min_ns, 100);
}

TEST(WindowSumsTest, PathsBeginWithTheProcess) {
  EXPECT_THAT(Stacks(SumsOfBoth()),
              UnorderedElementsAre(Pair("app", 0), Pair("app;job", 800),
                                   Pair("app;job;read", 100),
                                   Pair("app;job;read;copy", 100),
                                   Pair("app;job;write", -100),
                                   Pair("app;job;write;copy", 100)));
}

TEST(WindowSumsTest, WithoutRoomTimeStaysWithThePathAround) {
  const WindowSums sums = SumsOfBoth(/*most_paths=*/3);
  EXPECT_THAT(Stacks(sums),
              UnorderedElementsAre(Pair("app", 0), Pair("app;job", 800),
                                   Pair("app;job;read", 200)));
  EXPECT_EQ(sums.paths_left_out(), 3);
}

TEST(WindowSumsTest, OpenRangesAreThoseOfTheLastWindow) {
  const WindowSums sums = SumsOfBoth();
  EXPECT_EQ(sums.ledger().Get(model::Loss::kRangesOpenAtEnd), 0);
  EXPECT_EQ(sums.ledger().Get(model::Loss::kRecordsCorrupt), 2);
  EXPECT_EQ(sums.event_count(), 4);
}

TEST(WindowSumsTest, OneWindowHasTheAveragesOfTheTrace) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 1'000);
  t.AddRange(main, "b", 100, 300);
  t.AddRange(main, "a", 150, 250);
  const model::Trace trace = std::move(t).Build();
  WindowSums sums;
  sums.Add(trace, /*is_last=*/true);
  std::vector<KeyAverage> expected = KeyAverages(trace);
  for (KeyAverage& average : expected) average.first_event = model::kNoEvent;
  EXPECT_EQ(sums.Averages(), expected);
}

// "name xCOUNT cpu TOTAL/SELF device TOTAL/SELF MIN-MAX" and what it is.
std::string RowText(const KeyAverage& row) {
  const auto n = [](int64_t number) { return std::to_string(number); };
  return row.name + " x" + n(row.count) + " cpu " + n(row.cpu_time_total_ns) +
         "/" + n(row.self_cpu_time_total_ns) + " device " +
         n(row.device_time_total_ns) + "/" + n(row.self_device_time_total_ns) +
         " " + n(row.min_ns) + "-" + n(row.max_ns) +
         (row.is_device ? " device" : "") + (row.is_async ? " async" : "") +
         (row.is_user_annotation ? " annotation" : "");
}

TEST(WindowSumsTest, GroupsOfTwoWindowsAddUpByKind) {
  WindowSums sums;
  {
    TestTrace t;
    const auto main = t.AddThread(5, 1, "main");
    t.AddRange(main, "a", 100, 200);
    t.AddRange(main, "x", 150, 400, ActivityType::kCpuOp, model::kEventAsync);
    t.AddInstant(main, "i", 160);
    t.AddRange(main, "a", 300, 330);
    const auto stream = t.AddStream(0, 7, 5);
    t.AddRange(stream, "k", 10, 40, ActivityType::kConcurrentKernel);
    t.AddRange(stream, "a", 50, 60, ActivityType::kConcurrentKernel);
    sums.Add(std::move(t).Build(), /*is_last=*/false);
  }
  {
    TestTrace t;
    t.AddThread(5, 2, "idle");
    const auto main = t.AddThread(5, 3, "main");
    t.AddRange(main, "a", 500, 505);
    t.AddAnnotation(main, "a", 600, 700);
    t.AddRange(main, "f", 610, 640);
    t.data().flags.back() = model::kEventFolded;
    t.Describe(0);
    t.SetRare({.calls = 3});
    const auto stream = t.AddStream(0, 7, 5);
    t.AddRange(stream, "k", 550, 650, ActivityType::kConcurrentKernel);
    sums.Add(std::move(t).Build(), /*is_last=*/true);
  }
  std::vector<std::string> rows;
  for (const KeyAverage& row : sums.Averages()) rows.push_back(RowText(row));
  EXPECT_THAT(rows, ElementsAre("k x2 cpu 0/0 device 130/130 30-100 device",
                                "a x1 cpu 0/0 device 10/10 10-10 device",
                                "a x3 cpu 135/135 device 0/0 5-100",
                                "x x1 cpu 250/0 device 0/0 250-250 async",
                                "a x1 cpu 100/70 device 0/0 100-100 annotation",
                                "f x3 cpu 30/30 device 0/0 10-10"));
  std::map<std::string, std::pair<DurationNs, int64_t>> paths;
  for (const WindowSums::Path& path : sums.paths()) {
    const bool is_root = path.parent == WindowSums::kNoPath;
    paths[(is_root
               ? ""
               : "in " + std::string(sums.PathName(sums.paths()[path.parent])) +
                     ": ") +
          std::string(sums.PathName(path))] = {path.self_ns, path.calls};
  }
  EXPECT_THAT(paths, UnorderedElementsAre(Pair("process 5", Pair(0, 0)),
                                          Pair("in process 5: a", Pair(215, 5)),
                                          Pair("in process 5: k", Pair(130, 2)),
                                          Pair("in a: f", Pair(30, 3))));
  EXPECT_EQ(sums.event_count(), 10u);
}

// "pid/id name xCOUNT MIN MEAN MAX LAST".
std::string CounterText(const WindowSums::Counter& counter) {
  const CounterValues& values = counter.values;
  std::ostringstream text;
  text << counter.pid << "/" << counter.id << " " << counter.name << " x"
       << values.sample_count << " " << values.min << " " << values.mean << " "
       << values.max << " " << values.last;
  return text.str();
}

std::vector<std::string> CounterTexts(const WindowSums& sums) {
  std::vector<std::string> texts;
  for (const WindowSums::Counter& counter : sums.Counters()) {
    texts.push_back(CounterText(counter));
  }
  return texts;
}

struct Value {
  int64_t tid;
  const char* name;
  TimeNs time_ns;
  double value;
};

// Names are numbered anew in each window. Values: in the order of a trace.
model::Trace CountersUntil(TimeNs end_ns, const std::vector<Value>& values,
                           const char* other_name = "other") {
  TestTrace t;
  t.SetWindow(0, end_ns);
  t.Intern(other_name);
  std::map<int64_t, model::TrackIndex> tracks;
  for (const Value& value : values) {
    if (!tracks.contains(value.tid)) {
      tracks[value.tid] = t.AddThread(5, value.tid, "t");
    }
    t.AddCounter(tracks[value.tid], value.name, value.time_ns, value.value);
  }
  return std::move(t).Build();
}

constexpr TimeNs kUnknownEnd = TimeNs{1} << 62;

TEST(WindowSumsTest, CountersHaveTheValuesOfAllWindows) {
  WindowSums sums;
  sums.Add(CountersUntil(kUnknownEnd,
                         {{1, "queue", 100, 1'000}, {1, "queue", 150, 3}}),
           /*is_last=*/false);
  sums.Add(CountersUntil(kUnknownEnd, {{2, "queue", 210, 7}}, "queue"),
           /*is_last=*/false);
  sums.Add(CountersUntil(500, {{1, "load", 300, 0.5}, {1, "queue", 400, 1}}),
           /*is_last=*/true);
  // (1000 * 50 + 3 * 250 + 1 * 100) / 400
  EXPECT_THAT(CounterTexts(sums), ElementsAre("5/1 load x1 0.5 0.5 0.5 0.5",
                                              "5/1 queue x3 1 127.125 1000 1",
                                              "5/2 queue x1 7 7 7 7"));
  EXPECT_EQ(sums.event_count(), 0u);
}

// The newest part has the values that were not dropped, and other sessions'.
TEST(WindowSumsTest, CountersGoOnInTheNewestPart) {
  WindowSums sums;
  sums.Add(CountersUntil(kUnknownEnd, {{1, "queue", 100, 8}}),
           /*is_last=*/false);
  const std::vector<Value> left = {{1, "queue", 200, 2}};
  sums.AddEvents(CountersUntil(300, left));
  const model::Trace newest =
      CountersUntil(300, {{1, "queue", 200, 2}, {3, "memory", 0, 9}}, "memory");
  EXPECT_FALSE(sums.HasEarlierValues(newest.counters()[0]));
  sums.SetNewest(newest);
  // (8 * 100 + 2 * 100) / 200
  EXPECT_THAT(CounterTexts(sums),
              ElementsAre("5/1 queue x2 2 5 8 2", "5/3 memory x1 9 9 9 9"));
  EXPECT_TRUE(sums.HasEarlierValues(newest.counters()[0]));
  EXPECT_FALSE(sums.HasEarlierValues(newest.counters()[1]));
}

TEST(WindowSumsTest, CountersHardlyDependOnWhereWindowsEnd) {
  std::vector<Value> values;
  for (int i = 0; i < 1'000; ++i) {
    values.push_back({1, "queue", 10 * i + i * i % 7, 1e9 / (1 + i * i % 997)});
  }
  const CounterValues whole =
      ComputeCounterValues(CountersUntil(20'000, values)).at(0);
  for (const size_t part : {1u, 7u, 300u, 1'000u}) {
    WindowSums sums;
    for (size_t begin = 0; begin < values.size(); begin += part) {
      const size_t end = std::min(begin + part, values.size());
      sums.Add(
          CountersUntil(20'000, {values.begin() + begin, values.begin() + end}),
          end == values.size());
    }
    const CounterValues summed = sums.Counters().at(0).values;
    EXPECT_EQ(summed.sample_count, whole.sample_count);
    EXPECT_EQ(summed.min, whole.min);
    EXPECT_EQ(summed.max, whole.max);
    EXPECT_EQ(summed.last, whole.last);
    EXPECT_DOUBLE_EQ(summed.mean, whole.mean) << part;
  }
}

TEST(WindowSumsTest, ValuesOfTooManyCountersAreLostAndCounted) {
  WindowSums sums(WindowSums::kMostPaths, /*most_counters=*/1);
  sums.Add(CountersUntil(kUnknownEnd, {{1, "queue", 100, 1}}),
           /*is_last=*/false);
  sums.Add(CountersUntil(400, {{1, "load", 200, 5},
                               {1, "load", 210, 6},
                               {1, "queue", 300, 3}}),
           /*is_last=*/true);
  // (1 * 200 + 3 * 100) / 300
  EXPECT_THAT(CounterTexts(sums), ElementsAre("5/1 queue x2 1 1.66667 3 3"));
  EXPECT_EQ(sums.ledger().Get(model::Loss::kCounterValuesDropped), 2u);
}

// The group's first event is the earliest, and of two at one time the longer.
TEST(WindowSumsTest, TheOrderIsThatOfFirstEventsOfAllWindows) {
  const auto order = [](TimeNs end_of_b) {
    WindowSums sums;
    for (const bool is_last : {false, true}) {
      TestTrace t;
      const auto main = t.AddThread(1, 1, "main");
      if (is_last) t.AddRange(main, "b", 100, end_of_b);
      t.AddRange(main, is_last ? "c" : "a", is_last ? 900 : 100,
                 is_last ? 990 : 150);
      sums.Add(std::move(t).Build(), is_last);
    }
    std::string names;
    for (const KeyAverage& row : sums.Averages()) names += row.name;
    return names;
  };
  EXPECT_EQ(order(149), "abc");
  EXPECT_EQ(order(150), "abc");
  EXPECT_EQ(order(151), "bac");
}

}  // namespace
}  // namespace kymo::analysis
