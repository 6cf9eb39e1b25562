#include "profiler/analysis/statistics/compare_runs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "profiler/analysis/statistics/run_speeds.h"

namespace kymo::analysis {
namespace {

constexpr double kConfidence = 0.95;

bool AllEqual(std::span<const double> values) {
  return std::ranges::adjacent_find(values, std::not_equal_to<>()) ==
         values.end();
}

// The smallest p value: all runs of one side are above all of the other.
double LeastP(size_t base, size_t head) {
  const double n = static_cast<double>(base + head);
  const double ways =
      std::exp(std::lgamma(n + 1) - std::lgamma(static_cast<double>(base) + 1) -
               std::lgamma(static_cast<double>(head) + 1));
  return std::min(1.0, 2 / ways);
}

bool AreTooFew(const RunRow& row, double alpha) {
  return LeastP(row.base.size(), row.head.size()) >= alpha;
}

// The standard normal's quantile, by bisection: this is no hot path.
double NormalQuantile(double share) {
  double low = -10;
  double high = 10;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < share ? low : high) = middle;
  }
  return low;
}

// The runs of both sides, and how much slower each is than is typical.
class CommonSpeed {
 public:
  explicit CommonSpeed(std::span<const RunRow> rows) {
    std::vector<std::vector<double>> times;
    for (const RunRow& row : rows) {
      if (row.is_count) continue;
      times.push_back(row.base);
      times.back().insert(times.back().end(), row.head.begin(), row.head.end());
    }
    const std::vector<double> all = RunSpeeds(times);
    const auto middle =
        all.begin() + static_cast<ptrdiff_t>(rows[0].base.size());
    base_.assign(all.begin(), middle);
    head_.assign(middle, all.end());
  }

  RunRow Without(const RunRow& row) const {
    if (row.is_count) return row;
    RunRow even = row;
    for (size_t i = 0; i < base_.size(); ++i) even.base[i] /= base_[i];
    for (size_t i = 0; i < head_.size(); ++i) even.head[i] /= head_[i];
    return even;
  }

 private:
  std::vector<double> base_;
  std::vector<double> head_;
};

// What 95 of 100 comparisons would find, if the noise is as in these runs. The
// rank-sum test is worth 3/pi of the runs of a t test.
double SmallestSeen(const RunRow& row, double alpha) {
  constexpr double kRankEfficiency = 0.955;
  constexpr double kNone = std::numeric_limits<double>::infinity();
  if (AreTooFew(row, alpha)) return kNone;
  const double base = Median(row.base);
  const double head = Median(row.head);
  if (base <= 0) {
    const bool is_nothing =
        head == base && AllEqual(row.base) && AllEqual(row.head);
    return is_nothing ? 0 : kNone;
  }
  std::vector<double> off;
  for (const double value : row.base) off.push_back(value / base);
  for (const double value : row.head) {
    off.push_back(head > 0 ? value / head : 1);
  }
  const double deviations =
      NormalQuantile(1 - alpha / 2) + NormalQuantile(0.95);
  const double runs = 1 / static_cast<double>(row.base.size()) +
                      1 / static_cast<double>(row.head.size());
  // If most runs have the same few samples, that is no sign of little noise.
  return std::max(row.step / base, deviations * RobustDeviation(off) *
                                       std::sqrt(runs / kRankEfficiency));
}

ComparedRow Measured(const RunRow& row, bool with_interval) {
  ComparedRow compared;
  const double base = Median(row.base);
  const double head = Median(row.head);
  compared.change = base == head ? 0
                    : base == 0  ? std::numeric_limits<double>::infinity()
                                 : head / base - 1;
  if (with_interval) {
    compared.interval = BootstrapChange(row.base, row.head, kConfidence);
  }
  compared.p =
      IsExact(row) ? (base == head ? 1 : 0) : RankSumP(row.base, row.head);
  return compared;
}

double Difference(const RunRow& row) {
  return std::abs(Median(row.head) - Median(row.base));
}

// Without the runs' speeds, amounts are no multiples of a step any more: one
// step may look like almost two.
bool IsMoreThanAStep(const RunRow& raw, const RunRow& even) {
  const double difference = Difference(even);
  return difference > raw.step &&
         (Difference(raw) > raw.step || difference >= 2 * raw.step);
}

// `row` is `raw` without the runs' speeds.
void Decide(const RunRow& raw, const RunRow& row, double tests,
            const CompareOptions& options, ComparedRow& compared) {
  const double least = row.is_count ? 0 : options.least_change;
  const double alpha = options.alpha / tests;
  if (!IsExact(row)) {
    compared.smallest_seen = std::max(least, SmallestSeen(row, alpha));
  }
  if (compared.p < options.alpha && std::abs(compared.change) > least &&
      IsMoreThanAStep(raw, row)) {
    compared.verdict =
        compared.change > 0 ? RunVerdict::kSlower : RunVerdict::kFaster;
  } else if (!IsExact(row) && AreTooFew(row, alpha)) {
    compared.verdict = RunVerdict::kTooFewRuns;
  } else {
    compared.verdict = compared.smallest_seen <= options.min_effect
                           ? RunVerdict::kNoChange
                           : RunVerdict::kTooNoisy;
  }
}

}  // namespace

bool IsExact(const RunRow& row) {
  // Of one run, nobody knows whether the next one agrees.
  return row.is_count && std::min(row.base.size(), row.head.size()) > 1 &&
         AllEqual(row.base) && AllEqual(row.head);
}

RunComparison CompareRuns(std::span<const RunRow> rows,
                          const CompareOptions& options) {
  RunComparison result;
  if (rows.empty()) return result;
  const auto times = static_cast<size_t>(std::ranges::count_if(
      rows, [](const RunRow& row) { return !row.is_count; }));
  result.is_relative = times >= kFewestRelative;
  std::vector<RunRow> even(rows.begin(), rows.end());
  if (result.is_relative) {
    const CommonSpeed speed(rows);
    for (RunRow& row : even) row = speed.Without(row);
  }
  const bool intervals = options.with_intervals;
  std::vector<double> p;
  for (const RunRow& row : even) {
    p.push_back(result.rows.emplace_back(Measured(row, intervals)).p);
  }
  const RunRow whole = SumOfTimes(rows);
  result.whole = Measured(whole, intervals);
  // Exact rows need no test, so they cost the others nothing.
  std::vector<double> tested;
  if (times > 0) tested.push_back(result.whole.p);
  for (size_t i = 0; i < p.size(); ++i) {
    if (!IsExact(even[i])) tested.push_back(p[i]);
  }
  const std::vector<double> adjusted = HolmAdjusted(tested);
  const auto tests = static_cast<double>(tested.size());
  size_t next = 0;
  if (times > 0) {
    result.whole.p = adjusted[next++];
    Decide(whole, whole, tests, options, result.whole);
  }
  for (size_t i = 0; i < p.size(); ++i) {
    if (!IsExact(even[i])) result.rows[i].p = adjusted[next++];
    Decide(rows[i], even[i], tests, options, result.rows[i]);
  }
  return result;
}

RunRow SumOfTimes(std::span<const RunRow> rows) {
  RunRow sum;
  sum.base.resize(rows[0].base.size());
  sum.head.resize(rows[0].head.size());
  for (const RunRow& row : rows) {
    if (row.is_count) continue;
    sum.step = std::max(sum.step, row.step);
    for (size_t i = 0; i < row.base.size(); ++i) sum.base[i] += row.base[i];
    for (size_t i = 0; i < row.head.size(); ++i) sum.head[i] += row.head[i];
  }
  return sum;
}

int FewestRuns(size_t rows, double alpha) {
  alpha = std::max(alpha, 1e-12);
  for (int runs = 1;; ++runs) {
    const auto n = static_cast<size_t>(runs);
    if (LeastP(n, n) * static_cast<double>(rows + 1) < alpha) return runs;
  }
}

const char* VerdictName(RunVerdict verdict) {
  static constexpr const char* kNames[] = {"slower", "faster", "no change seen",
                                           "too noisy", "too few runs"};
  return kNames[static_cast<size_t>(verdict)];
}

}  // namespace kymo::analysis
