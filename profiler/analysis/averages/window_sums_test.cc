#include "profiler/analysis/averages/window_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "profiler/analysis/averages/key_averages.h"
#include "profiler/model/loss_ledger.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;
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

}  // namespace
}  // namespace kymo::analysis
