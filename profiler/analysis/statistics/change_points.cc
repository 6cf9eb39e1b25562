#include "profiler/analysis/statistics/change_points.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "profiler/analysis/statistics/samples.h"

namespace kymo::analysis {
namespace {

// Ranks from 1, those of equal values averaged.
std::vector<double> Ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) {
      ++end;
    }
    for (size_t i = begin; i < end; ++i) {
      ranks[order[i]] = static_cast<double>(begin + end + 1) / 2;
    }
    begin = end;
  }
  return ranks;
}

// The first value of the second side, where the sides differ most by rank.
size_t BestSplit(std::span<const double> values) {
  const std::vector<double> ranks = Ranks(values);
  const auto n = static_cast<double>(values.size());
  size_t best = 1;
  double largest = -1;
  double sum = 0;
  for (size_t k = 1; k < values.size(); ++k) {
    sum += ranks[k - 1];
    const auto m = static_cast<double>(k);
    const double distance = std::abs(sum - m * (n + 1) / 2);
    const double z = distance / std::sqrt(m * (n - m));
    if (z > largest) {
      largest = z;
      best = k;
    }
  }
  return best;
}

class Search {
 public:
  Search(std::span<const double> values, double alpha)
      : values_(values), alpha_(alpha) {}

  std::vector<ChangePoint> Run() {
    Split(0, values_.size());
    return found_;
  }

 private:
  void Split(size_t begin, size_t end) {
    if (end - begin < 2) return;
    const auto part = values_.subspan(begin, end - begin);
    const size_t k = BestSplit(part);
    const double p = std::min(1.0, RankSumP(part.first(k), part.subspan(k)) *
                                       static_cast<double>(part.size() - 1));
    if (!(p < alpha_)) return;
    Split(begin, begin + k);
    found_.push_back({.first = begin + k, .p = p});
    Split(begin + k, end);
  }

  const std::span<const double> values_;
  const double alpha_;
  std::vector<ChangePoint> found_;
};

// The first places of stretches of at least `least` equal values, each with
// another value than the one before.
std::vector<ChangePoint> Steps(std::span<const double> values, size_t least) {
  std::vector<ChangePoint> steps;
  std::optional<double> before;
  for (size_t begin = 0; begin < values.size();) {
    size_t end = begin;
    while (end < values.size() && values[end] == values[begin]) ++end;
    if (end - begin >= least) {
      if (before && *before != values[begin]) steps.push_back({.first = begin});
      before = values[begin];
    }
    begin = end;
  }
  return steps;
}

void SetMedians(std::span<const double> values,
                std::vector<ChangePoint>& points) {
  for (size_t i = 0; i < points.size(); ++i) {
    const size_t begin = i == 0 ? 0 : points[i - 1].first;
    const size_t middle = points[i].first;
    const size_t end =
        i + 1 < points.size() ? points[i + 1].first : values.size();
    points[i].before = Median(values.subspan(begin, middle - begin));
    points[i].after = Median(values.subspan(middle, end - middle));
  }
}

// Ranks find that there is a change, and wild runs beside it may move the
// place. So it is put where each value is on the side that it is nearer to. A
// wild one is as far from both. Of places that fit as well, it is the last.
void Refine(std::span<const double> values, std::vector<ChangePoint>& points,
            size_t at) {
  ChangePoint& point = points[at];
  const size_t begin = at == 0 ? 0 : points[at - 1].first;
  const size_t end =
      at + 1 < points.size() ? points[at + 1].first : values.size();
  const double most = std::abs(point.after - point.before);
  const auto distance = [&](size_t i, double level) {
    return std::min(most, std::abs(values[i] - level));
  };
  double cost = 0;  // of a change at `begin`, less that of the best place
  double least = HUGE_VAL;
  for (size_t k = begin; k + 1 < end; ++k) {
    cost += distance(k, point.before) - distance(k, point.after);
    if (cost > least) continue;
    least = cost;
    point.first = k + 1;
  }
}

}  // namespace

std::vector<ChangePoint> FindChangePoints(std::span<const double> values,
                                          double alpha, ValueKind kind) {
  std::vector<ChangePoint> points;
  size_t steps = 0;
  if (kind == ValueKind::kCount) {
    points = Steps(values, 2);
    steps = Steps(values, 1).size();
  }
  // Counts that change again and again are noise, as times are.
  if (kind == ValueKind::kTime ||
      steps > std::max<size_t>(1, values.size() / 4)) {
    points = Search(values, alpha).Run();
  }
  SetMedians(values, points);
  for (size_t i = 0; i < points.size(); ++i) Refine(values, points, i);
  SetMedians(values, points);
  return points;
}

}  // namespace kymo::analysis
