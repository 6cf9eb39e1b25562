#include "profiler/analysis/statistics/compare_runs.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace kymo::analysis {
namespace {

constexpr size_t kRows = 50;
constexpr size_t kRuns = 10;

// The noise of a busy machine: each row has its own, and each run is slower as
// a whole, some by much.
class Noise {
 public:
  explicit Noise(uint32_t seed) : random_(seed) {}

  std::vector<RunRow> Rows(double own, double common) {
    std::vector<RunRow> rows(kRows);
    for (size_t run = 0; run < 2 * kRuns; ++run) {
      const double speed =
          std::exp(common * Normal()) * (random_() % 10 == 0 ? 1.3 : 1);
      for (size_t i = 0; i < kRows; ++i) {
        RunRow& row = rows[i];
        const double mean = 10.0 * static_cast<double>(i + 1);
        (run % 4 == 0 || run % 4 == 3 ? row.base : row.head)
            .push_back(mean * speed * std::exp(own * Normal()));
      }
    }
    return rows;
  }

 private:
  // The sum of twelve: the same on every machine, unlike the library's.
  double Normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random_() / 4294967296.0;
    return sum;
  }

  std::mt19937 random_;
};

bool HasChange(const RunComparison& compared) {
  const auto is_change = [](const ComparedRow& row) {
    return row.verdict == RunVerdict::kSlower ||
           row.verdict == RunVerdict::kFaster;
  };
  return is_change(compared.whole) ||
         std::ranges::any_of(compared.rows, is_change);
}

TEST(CompareRunsTest, FindsFivePercentInOneOfFiftyRows) {
  int found = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::vector<RunRow> rows = Noise(seed).Rows(0.015, 0.1);
    for (double& value : rows[7].head) value *= 1.05;
    const RunComparison compared = CompareRuns(rows, {.with_intervals = false});
    found += compared.rows[7].verdict == RunVerdict::kSlower ? 1 : 0;
  }
  EXPECT_GE(found, 95);
}

TEST(CompareRunsTest, EqualProgramsRarelySeemToDiffer) {
  int alarms = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::vector<RunRow> rows = Noise(seed).Rows(0.03, 0.1);
    const RunComparison compared = CompareRuns(rows, {.with_intervals = false});
    alarms += HasChange(compared) ? 1 : 0;
  }
  EXPECT_LT(alarms, 10);
}

TEST(CompareRunsTest, TakesOutTheSpeedOfRuns) {
  std::vector<RunRow> rows = Noise(1).Rows(0.002, 0.2);
  const RunComparison compared = CompareRuns(rows);
  EXPECT_TRUE(compared.is_relative);
  EXPECT_EQ(compared.rows[3].verdict, RunVerdict::kNoChange);
  EXPECT_EQ(compared.whole.verdict, RunVerdict::kTooNoisy);
}

TEST(CompareRunsTest, EverythingSlowerIsAChangeOfTheWhole) {
  std::vector<RunRow> rows = Noise(2).Rows(0.005, 0.0);
  for (RunRow& row : rows) {
    for (double& value : row.head) value *= 2;
  }
  const RunComparison compared = CompareRuns(rows);
  EXPECT_EQ(compared.whole.verdict, RunVerdict::kSlower);
  EXPECT_NEAR(compared.whole.change, 1, 0.1);
  EXPECT_EQ(compared.rows[0].verdict, RunVerdict::kNoChange);
}

TEST(CompareRunsTest, FewRowsAreComparedAsTheyAre) {
  const std::vector<RunRow> rows = {
      {.base = {10, 10.1, 10.2, 9.9, 9.8, 10, 10.1, 9.9},
       .head = {12, 12.1, 12.2, 11.9, 11.8, 12, 12.1, 11.9}}};
  const RunComparison compared = CompareRuns(rows);
  EXPECT_FALSE(compared.is_relative);
  EXPECT_EQ(compared.rows[0].verdict, RunVerdict::kSlower);
  EXPECT_NEAR(compared.rows[0].change, 0.2, 0.01);
}

TEST(CompareRunsTest, OneMoreOfACountIsAChange) {
  const std::vector<RunRow> rows = {
      {.base = {1000, 1000}, .head = {1001, 1001}, .is_count = true},
      {.base = {7, 7}, .head = {7, 7}, .is_count = true}};
  const RunComparison compared = CompareRuns(rows);
  EXPECT_EQ(compared.rows[0].verdict, RunVerdict::kSlower);
  EXPECT_EQ(compared.rows[1].verdict, RunVerdict::kNoChange);
}

// Whether a count repeats is not seen in one run.
TEST(CompareRunsTest, OneRunIsTooFewForCounts) {
  const std::vector<RunRow> rows = {
      {.base = {1000}, .head = {1001, 1001}, .is_count = true},
      {.base = {7, 7}, .head = {8}, .is_count = true}};
  for (const ComparedRow& row : CompareRuns(rows).rows) {
    EXPECT_EQ(row.verdict, RunVerdict::kTooFewRuns);
  }
}

TEST(CompareRunsTest, TinyChangesOfTimesDoNotCount) {
  std::vector<RunRow> rows = {
      {.base = {1000, 1000.1, 1000.2, 999.9, 999.8, 999.7}}};
  const auto verdict = [&](double more, bool is_count) {
    rows[0].head = rows[0].base;
    for (double& value : rows[0].head) value += more;
    rows[0].is_count = is_count;
    return CompareRuns(rows).rows[0].verdict;
  };
  EXPECT_EQ(verdict(10, false), RunVerdict::kSlower);
  EXPECT_EQ(verdict(4, false), RunVerdict::kNoChange);
  EXPECT_EQ(CompareRuns(rows).rows[0].smallest_seen, 0.005);
  EXPECT_EQ(verdict(4, true), RunVerdict::kSlower);
}

TEST(CompareRunsTest, OfNothingNoShareIsSeen) {
  const std::vector<double> nothing(10, 0);
  std::vector<double> once = nothing;
  once[3] = 500;
  const std::vector<RunRow> rows = {{.base = nothing, .head = once},
                                    {.base = nothing, .head = nothing}};
  const RunComparison compared = CompareRuns(rows);
  EXPECT_EQ(compared.rows[0].verdict, RunVerdict::kTooNoisy);
  EXPECT_EQ(compared.rows[1].verdict, RunVerdict::kNoChange);
}

TEST(CompareRunsTest, CountsThatVaryAreTested) {
  const std::vector<RunRow> rows = {
      {.base = {1000, 1010, 990}, .head = {1001, 1009, 991}, .is_count = true}};
  EXPECT_EQ(CompareRuns(rows).rows[0].verdict, RunVerdict::kTooFewRuns);
}

TEST(CompareRunsTest, TooFewRunsFindNothing) {
  const std::vector<RunRow> rows = {{.base = {1}, .head = {2}}};
  const RunComparison compared = CompareRuns(rows);
  EXPECT_EQ(compared.rows[0].verdict, RunVerdict::kTooFewRuns);
  EXPECT_TRUE(std::isinf(compared.rows[0].smallest_seen));
  EXPECT_EQ(FewestRuns(1, 0.05), 5);
  EXPECT_EQ(FewestRuns(50, 0.05), 7);
}

// A program compared with itself: of a function that has one sample in most
// runs, nobody would have seen a change of 0.5 %.
TEST(CompareRunsTest, ADifferenceOfAStepIsNone) {
  constexpr double kStep = 1000;
  const std::vector<RunRow> rows = {
      {.base = {1000, 1000, 1000, 0, 1000, 1000, 1000, 1000, 2000, 1000},
       .head = {0, 0, 1000, 0, 0, 1000, 0, 0, 0, 1000},
       .step = kStep},
      {.base = std::vector<double>(10, 5000),
       .head = std::vector<double>(10, 6000),
       .step = kStep},
      {.base = std::vector<double>(10, 5000),
       .head = std::vector<double>(10, 7000),
       .step = kStep}};
  const RunComparison compared = CompareRuns(rows);
  EXPECT_EQ(compared.rows[0].verdict, RunVerdict::kTooNoisy);
  EXPECT_GE(compared.rows[0].smallest_seen, 1);
  EXPECT_EQ(compared.rows[1].verdict, RunVerdict::kTooNoisy);
  EXPECT_GE(compared.rows[1].smallest_seen, 0.2);
  EXPECT_EQ(compared.rows[2].verdict, RunVerdict::kSlower);
}

TEST(CompareRunsTest, CallsNoDifferenceOfOneStepAChangeInFasterRuns) {
  constexpr double kStep = 1000;
  const auto row = [](double base, double head) {
    return RunRow{.base = std::vector<double>(10, base),
                  .head = std::vector<double>(10, head),
                  .step = kStep};
  };
  // All of head ran 3 % faster.
  std::vector<RunRow> rows(9, row(1'000'000, 970'000));
  rows.push_back(row(5000, 6000));
  rows.push_back(row(20'000, 21'000));
  rows.push_back(row(5000, 7000));
  // As many samples, but the rest of the run took three fewer.
  rows.push_back(row(100'000, 100'000));
  const RunComparison compared = CompareRuns(rows);
  ASSERT_TRUE(compared.is_relative);
  EXPECT_EQ(compared.rows[9].verdict, RunVerdict::kTooNoisy);
  EXPECT_EQ(compared.rows[10].verdict, RunVerdict::kTooNoisy);
  EXPECT_EQ(compared.rows[11].verdict, RunVerdict::kSlower);
  EXPECT_EQ(compared.rows[12].verdict, RunVerdict::kSlower);
}

}  // namespace
}  // namespace kymo::analysis
