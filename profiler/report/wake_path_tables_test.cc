#include "profiler/report/wake_path_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"

#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/model/thread_states.h"
#include "profiler/report/ranks/rank_path_tables.h"
#include "tests/support/test_trace.h"

namespace kymo::report {
namespace {

using model::WaitKind;
using ::testing::ElementsAre;

// "worker" held up the end: it ran from 200 to 800, in a range until 500.
model::Trace HeldUp() {
  TestTrace t;
  t.SetWindow(100, 1'000);
  const auto main = t.AddThread(7, 7, "main");
  const auto worker = t.AddThread(7, 8, "worker");
  t.AddRange(worker, "outer", 150, 500);
  t.AddRange(worker, "inner", 300, 400);
  t.SetThreadTimes(
      {{.track = main, .wall_ns = 900, .begin_ns = 100, .end_ns = 1'000},
       {.track = worker,
        .wall_ns = 650,
        .begin_ns = 200,
        .end_ns = 850,
        .creator = main}});
  t.AddWait({.track = main,
             .kind = WaitKind::kCondition,
             .begin_ns = 210,
             .duration_ns = 640,
             .runnable_ns = 50,
             .waker = worker},
            {"main", "Join", "pthread_join"});
  t.AddWait({.track = worker,
             .kind = WaitKind::kSleep,
             .begin_ns = 450,
             .duration_ns = 30},
            {"Work", "Nap"});
  t.AddSample(main, 120, 1, {"main", "Setup"});
  t.AddSample(worker, 600, 1, {"Work", "Sum"});
  t.AddSample(worker, 700, 1, {"Work", "Sum"});
  t.AddSample(worker, 750, 1, {"Work", "Add"});
  return std::move(t).Build();
}

// Each row's values; shares as whole percents.
std::vector<std::string> Texts(const ValueTable& table) {
  std::vector<std::string> texts;
  for (const std::vector<Value>& row : table.rows) {
    EXPECT_EQ(row.size(), table.columns.size());
    std::string& text = texts.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : " ");
      if (const auto* const words = std::get_if<std::string>(&row[i])) {
        absl::StrAppend(&text, *words);
      } else if (const auto* const share = std::get_if<double>(&row[i])) {
        absl::StrAppend(&text, std::lround(100 * *share), "%");
      } else {
        absl::StrAppend(&text, std::get<int64_t>(row[i]));
      }
    }
  }
  return texts;
}

TEST(WakePathTablesTest, TheThreadWithMostOfThePathIsFirst) {
  EXPECT_THAT(Texts(WakePathTable(HeldUp())),
              ElementsAre("7 8 worker 67% on CPU Sum 22% 200 1",
                          "7 8 worker 67% on CPU outer 19% 170 3",
                          "7 8 worker 67% on CPU Add 11% 100 1",
                          "7 8 worker 67% on CPU inner 11% 100 1",
                          "7 8 worker 67% sleep Nap 3% 30 1",
                          "7 7 main 33% on CPU [no sample] 17% 150 1",
                          "7 7 main 33% on CPU Setup 11% 100 1",
                          "7 7 main 33% runnable  6% 50 1"));
}

TEST(WakePathTablesTest, SmallRowsOfAThreadAndCauseAreOne) {
  TestTrace t;
  t.SetWindow(0, 10'000);
  const auto main = t.AddThread(7, 7, "main");
  t.AddRange(main, "long", 0, 8'800);
  t.AddRange(main, "enough", 8'800, 8'900);
  t.AddRange(main, "99 a", 8'900, 8'999);
  t.AddRange(main, "99 b", 8'999, 9'098);
  t.AddRange(main, "99 b", 9'098, 9'099);
  t.AddRange(main, "middle", 9'100, 9'990);
  t.SetThreadTimes(
      {{.track = main, .wall_ns = 10'000, .begin_ns = 0, .end_ns = 10'000}});
  t.AddWait({.track = main,
             .kind = WaitKind::kSleep,
             .begin_ns = 9'990,
             .duration_ns = 10},
            {"main", "Nap"});
  EXPECT_THAT(Texts(WakePathTable(std::move(t).Build())),
              ElementsAre("7 7 main 100% on CPU long 88% 8800 1",
                          "7 7 main 100% on CPU middle 9% 890 1",
                          "7 7 main 100% on CPU 99 b 1% 100 2",
                          "7 7 main 100% on CPU [other] 1% 100 2",
                          "7 7 main 100% on CPU enough 1% 100 1",
                          "7 7 main 100% sleep Nap 0% 10 1"));
}

TEST(WakePathTablesTest, ANoteSaysThatWakersAreMissing) {
  const auto note = [](WaitKind kind, DurationNs wait_ns,
                       DurationNs runnable_ns) {
    TestTrace t;
    t.SetWindow(0, 10'000);
    const auto main = t.AddThread(7, 7, "make");
    t.SetThreadTimes(
        {{.track = main, .wall_ns = 10'000, .begin_ns = 0, .end_ns = 10'000}});
    t.AddWait({.track = main,
               .kind = kind,
               .begin_ns = 100,
               .duration_ns = wait_ns,
               .runnable_ns = runnable_ns},
              {"main", "Acquire"});
    return WakePathNote(std::move(t).Build());
  };
  const std::string text = note(WaitKind::kPoll, 7'900, -1);
  EXPECT_TRUE(text.starts_with("Note: 79 % of the path are waits for pipes"));
  EXPECT_TRUE(text.find("--activities=sampling,off_cpu") != text.npos);
  EXPECT_NE(note(WaitKind::kPipe, 7'900, -1), "");
  EXPECT_EQ(note(WaitKind::kPoll, 7'900, 10), "");  // a waker was seen
  EXPECT_EQ(note(WaitKind::kPoll, 100, -1), "");
  EXPECT_EQ(note(WaitKind::kSleep, 7'900, -1), "");
}

TEST(WakePathTablesTest, StepsStandInTheOrderOfTime) {
  EXPECT_THAT(
      Texts(WakePathStepTable(HeldUp())),
      ElementsAre(
          "0 7 7 main on CPU Setup 100", "100 7 8 worker on CPU outer 100",
          "200 7 8 worker on CPU inner 100", "300 7 8 worker on CPU outer 50",
          "350 7 8 worker sleep Nap 30", "380 7 8 worker on CPU outer 20",
          "400 7 8 worker on CPU Add 100", "500 7 8 worker on CPU Sum 200",
          "700 7 7 main runnable  50", "750 7 7 main on CPU [no sample] 150"));
}

// What a rank waited for outside of MPI is no computing.
TEST(RankPathTableTest, HasWaitsOutsideOfMpi) {
  TestTrace t;
  t.SetWindow(0, 1'000);
  const auto main = t.AddThread(7, 7, "main");
  t.AddInstant(main, "MPI ranks", 10);
  auto& data = t.data();
  data.args = {model::Arg::Int(t.Intern("rank"), 0),
               model::Arg::Int(t.Intern("size"), 1)};
  data.detail.back() = 0;
  data.details.push_back({.args_begin = 0, .args_end = 2});
  t.AddRange(main, "MPI_Init", 100, 200);
  t.AddRange(main, "MPI_Finalize", 900, 910);
  t.SetThreadTimes(
      {{.track = main, .wall_ns = 1'000, .begin_ns = 0, .end_ns = 1'000}});
  for (const TimeNs begin : {150, 350, 600}) {
    t.AddWait({.track = main,
               .kind = WaitKind::kSleep,
               .begin_ns = begin,
               .duration_ns = 100},
              {"main", "Nap"});
  }
  const model::Trace trace = std::move(t).Build();
  EXPECT_THAT(Texts(RankPathTable(analysis::JobOfRanks(trace))),
              ElementsAre("0  100% computing [no sample] 61% 540 4",
                          "0  100% sleep Nap 28% 250 3",
                          "0  100% MPI MPI_Init 11% 100 1"));
}

}  // namespace
}  // namespace kymo::report
