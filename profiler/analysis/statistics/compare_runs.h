// compare_runs.h - many rows, measured in several runs of two programs: which
// rows changed, and how sure that is.
//
//   std::vector<RunRow> rows = {{.base = {10, 11, 10}, .head = {12, 13, 12}}};
//   const RunComparison compared = CompareRuns(rows);
//   compared.rows[0].verdict        // kSlower
//
// Runs of a busy machine are slower as a whole. So if there are eight rows or
// more, each run's common speed is taken out first: a row is compared with the
// rest of its run. The common speed is a comparison of its own, `whole`.
//
// A row changed if Wilcoxon's rank-sum test says so after Holm's correction for
// all rows and the whole: in at most 5 of 100 comparisons of equal programs is
// there any row that seems to have changed. Holm, and not a bound of the share
// of false ones (Benjamini-Hochberg), because a gate that fails for nothing is
// switched off. The interval is a bootstrap's, of that row alone.
//
// Amounts that are the same in all runs of each side, such as allocations, need
// no test: any difference is a change. So mark those rows `is_count`. It takes
// two runs a side to see that they agree.
#ifndef KYMO_PROFILER_ANALYSIS_STATISTICS_COMPARE_RUNS_H_
#define KYMO_PROFILER_ANALYSIS_STATISTICS_COMPARE_RUNS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/analysis/statistics/samples.h"

namespace kymo::analysis {

struct RunRow {
  std::vector<double> base;  // one for each run
  std::vector<double> head;
  bool is_count = false;  // not a time: the run's speed says nothing of it
  // Amounts are about multiples of it, as times of samples are of the sampling
  // period. A difference of one step or less is none, unless the runs' speeds
  // make it two or more. 0: any amounts.
  double step = 0;
};

// Whether it is a count whose runs, two or more, agree on each side: it needs
// no test.
bool IsExact(const RunRow& row);

enum class RunVerdict : uint8_t {
  kSlower,      // or more
  kFaster,      // or less
  kNoChange,    // a change of `min_effect` would have been seen
  kTooNoisy,    // it might not have been seen
  kTooFewRuns,  // no change would have been
  kCount,
};

struct ComparedRow {
  RunVerdict verdict = RunVerdict::kTooNoisy;
  double change = 0;  // of the medians, as a share: 0.05 is 5 % more
  Interval interval;  // of `change`, at 95 %
  double p = 1;       // corrected
  // The smallest change that 95 of 100 such comparisons would have found; of a
  // time at least `least_change`, and a step.
  // Infinite: these are too few runs to find any, or base has nothing of it.
  double smallest_seen = 0;
};

struct RunComparison {
  std::vector<ComparedRow> rows;  // those of the input
  ComparedRow whole;              // the sum of all times, if there are any
  bool is_relative = false;       // rows are compared with the rest of the run
};

struct CompareOptions {
  double min_effect = 0.05;
  // Of a time, no smaller change counts: where the linker puts a function does
  // as much, and on a quiet machine that can be seen.
  double least_change = 0.005;
  double alpha = 0.05;
  bool with_intervals = true;  // most of the time that it takes
};

// REQUIRES: all rows have the same number of runs on a side, at least one.
RunComparison CompareRuns(std::span<const RunRow> rows,
                          const CompareOptions& options = {});

// All times together, by run. REQUIRES: a row.
RunRow SumOfTimes(std::span<const RunRow> rows);

// The fewest runs on each side with which a change among `rows` rows can be
// found at all.
int FewestRuns(size_t rows, double alpha);

const char* VerdictName(RunVerdict verdict);  // "no change seen"

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_STATISTICS_COMPARE_RUNS_H_
