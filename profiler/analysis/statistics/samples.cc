#include "profiler/analysis/statistics/samples.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

namespace kymo::analysis {
namespace {

constexpr int kDraws = 2000;
constexpr uint64_t kSeed = 20240229;
constexpr double kMostExactSteps = 1e7;

// SplitMix64: the same numbers on every machine.
class Random {
 public:
  size_t Below(size_t limit) {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    // The bias of the remainder is below 2^-50 here.
    return (x ^ (x >> 31)) % limit;
  }

 private:
  uint64_t state_ = kSeed;
};

double DrawnMedian(std::span<const double> values, Random& random,
                   std::vector<double>& drawn) {
  drawn.clear();
  for (size_t i = 0; i < values.size(); ++i) {
    drawn.push_back(values[random.Below(values.size())]);
  }
  return Median(drawn);
}

Interval Percentiles(std::vector<double>& draws, double confidence) {
  std::ranges::sort(draws);
  const double tail = (1 - confidence) / 2;
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(draws.size() - 1);
    return draws[static_cast<size_t>(std::lround(place))];
  };
  return {at(tail), at(1 - tail)};
}

double Change(double base, double head) {
  if (base == head) return 0;
  if (base == 0) return std::numeric_limits<double>::infinity();
  return head / base - 1;
}

// Twice the ranks, so that those of equal values are whole numbers, too.
std::vector<size_t> DoubledRanks(std::span<const double> base,
                                 std::span<const double> head) {
  std::vector<double> all(base.begin(), base.end());
  all.insert(all.end(), head.begin(), head.end());
  std::vector<double> sorted = all;
  std::ranges::sort(sorted);
  std::vector<size_t> ranks;
  for (const double value : all) {
    const auto [first, last] =
        std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back(static_cast<size_t>((first - sorted.begin()) +
                                        (last - sorted.begin()) + 1));
  }
  return ranks;
}

// ways[k][s]: how many sets of k ranks have the sum s.
using Ways = std::vector<std::vector<double>>;

Ways CountWays(std::span<const size_t> ranks, size_t chosen) {
  const size_t most = std::accumulate(ranks.begin(), ranks.end(), size_t{0});
  Ways ways(chosen + 1, std::vector<double>(most + 1));
  ways[0][0] = 1;
  for (const size_t rank : ranks) {
    for (size_t k = chosen; k >= 1; --k) {
      for (size_t s = most; s >= rank; --s) {
        ways[k][s] += ways[k - 1][s - rank];
      }
    }
  }
  return ways;
}

double NormalTail(double deviations) {
  return std::erfc(deviations / std::sqrt(2.0));
}

}  // namespace

double Median(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  const size_t half = sorted.size() / 2;
  std::ranges::nth_element(sorted, sorted.begin() + half);
  const double upper = sorted[half];
  if (sorted.size() % 2 == 1) return upper;
  return (*std::max_element(sorted.begin(), sorted.begin() + half) + upper) / 2;
}

double RobustDeviation(std::span<const double> values) {
  const double median = Median(values);
  std::vector<double> distances;
  for (const double value : values) {
    distances.push_back(std::abs(value - median));
  }
  constexpr double kOfNormal = 1.4826;
  return kOfNormal * Median(distances);
}

Interval BootstrapMedian(std::span<const double> values, double confidence) {
  if (values.empty()) return {};
  Random random;
  std::vector<double> draws, drawn;
  for (int i = 0; i < kDraws; ++i) {
    draws.push_back(DrawnMedian(values, random, drawn));
  }
  return Percentiles(draws, confidence);
}

Interval BootstrapChange(std::span<const double> base,
                         std::span<const double> head, double confidence) {
  if (base.empty() || head.empty()) return {};
  Random random;
  std::vector<double> draws, drawn;
  for (int i = 0; i < kDraws; ++i) {
    const double before = DrawnMedian(base, random, drawn);
    draws.push_back(Change(before, DrawnMedian(head, random, drawn)));
  }
  return Percentiles(draws, confidence);
}

double RankSumP(std::span<const double> base, std::span<const double> head) {
  if (base.empty() || head.empty()) return 1;
  // Dealing the smaller side takes fewer steps, and gives the same.
  if (base.size() > head.size()) return RankSumP(head, base);
  const std::vector<size_t> ranks = DoubledRanks(base, head);
  const size_t n = ranks.size();
  const size_t chosen = base.size();
  const auto sum = static_cast<double>(
      std::accumulate(ranks.begin(), ranks.begin() + chosen, size_t{0}));
  const auto total =
      static_cast<double>(std::accumulate(ranks.begin(), ranks.end(), 0UL));
  const double mean =
      total * static_cast<double>(chosen) / static_cast<double>(n);
  const double distance = std::abs(sum - mean);
  const double steps = 2.0 * n * n * chosen * chosen;
  if (steps > kMostExactSteps) {
    double squares = 0;
    for (const size_t rank : ranks) {
      const double off = static_cast<double>(rank) - total / n;
      squares += off * off;
    }
    if (squares == 0) return 1;
    const double variance = static_cast<double>(chosen) *
                            static_cast<double>(n - chosen) / (n * (n - 1.0)) *
                            squares;
    return NormalTail(distance / std::sqrt(variance));
  }
  double far = 0;
  double all = 0;
  const Ways ways = CountWays(ranks, chosen);
  for (size_t s = 0; s < ways[chosen].size(); ++s) {
    all += ways[chosen][s];
    // Sums are whole numbers. Rounding moves `mean` by far less than 0.25.
    if (std::abs(static_cast<double>(s) - mean) > distance - 0.25) {
      far += ways[chosen][s];
    }
  }
  return std::min(1.0, far / all);
}

std::vector<double> HolmAdjusted(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double least = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto left = static_cast<double>(order.size() - i);
    least = std::max(least, std::min(1.0, left * p[order[i]]));
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace kymo::analysis
