// samples.h - several measurements of one thing: what is typical, and how sure.
//
//   const double typical = Median(times);
//   const Interval sure = BootstrapMedian(times, 0.95);
//   const Interval change = BootstrapChange(base, head, 0.95);
//   const double p = RankSumP(base, head);
//
// A bootstrap draws from a generator with a fixed seed: equal inputs give equal
// intervals. NaN is not allowed.
#ifndef KYMO_PROFILER_ANALYSIS_STATISTICS_SAMPLES_H_
#define KYMO_PROFILER_ANALYSIS_STATISTICS_SAMPLES_H_

#include <span>
#include <vector>

namespace kymo::analysis {

struct Interval {
  double low = 0;
  double high = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

// 0 of no values.
double Median(std::span<const double> values);

// How far values typically are from their median, scaled so that it is the
// standard deviation of a normal distribution (1.4826 MAD). One outlier in ten
// hardly moves it.
double RobustDeviation(std::span<const double> values);

// Percentile bootstrap of the median.
Interval BootstrapMedian(std::span<const double> values, double confidence);

// Percentile bootstrap of median(head) / median(base) - 1. Low and high are
// both 0 if both medians are; infinite if that of `base` is 0 alone.
Interval BootstrapChange(std::span<const double> base,
                         std::span<const double> head, double confidence);

// The probability that values of one distribution, dealt to the two sides by
// chance, differ by rank at least as much as these do: Wilcoxon's rank-sum
// test, two-sided, exact also for equal values. It assumes no distribution.
// Cost: 2 (m n)^2 steps for n values, of which the smaller side has m. Beyond
//   ten million, which is 30 and 30 values, or 10 of 220, a normal
//   approximation.
double RankSumP(std::span<const double> base, std::span<const double> head);

// Holm's correction: p values such that among all of which none is real, one
// below 0.05 comes up in at most 5 of 100 tables, whatever their dependence.
std::vector<double> HolmAdjusted(std::span<const double> p);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_STATISTICS_SAMPLES_H_
