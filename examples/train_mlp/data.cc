#include "examples/train_mlp/data.h"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <utility>

#include "examples/train_mlp/counts.h"
#include "kymo/record_function.h"

namespace mlp {

double Uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

// Box and Muller's; the second value of the pair is not worth keeping.
double Gaussian(std::mt19937_64& random) {
  const double radius = std::sqrt(-2 * std::log(1 - Uniform(random)));
  return radius * std::cos(2 * std::numbers::pi * Uniform(random));
}

Dataset MakeMoons(int64_t count, double noise, uint64_t seed) {
  kymo::RecordFunction range("mlp::make_moons", {{"rows", count}});
  Count<"mlp::make_moons">();
  std::mt19937_64 random(seed);
  Dataset data{Matrix(count, kInputs),
               std::vector<int32_t>(static_cast<size_t>(count))};
  for (int64_t i = 0; i < count; ++i) {
    const bool lower = i % 2 != 0;
    const double angle = std::numbers::pi * Uniform(random);
    const double x = lower ? 1 - std::cos(angle) : std::cos(angle);
    const double y = lower ? 0.5 - std::sin(angle) : std::sin(angle);
    data.points(i, 0) = x + noise * Gaussian(random);
    data.points(i, 1) = y + noise * Gaussian(random);
    data.labels[static_cast<size_t>(i)] = lower ? 1 : 0;
  }
  return data;
}

Dataset Gather(const Dataset& data, std::span<const int64_t> indices) {
  const auto rows = static_cast<int64_t>(indices.size());
  kymo::RecordFunction range("mlp::gather", {{"rows", rows}});
  Count<"mlp::gather">();
  Dataset batch{Matrix(rows, data.points.cols()),
                std::vector<int32_t>(indices.size())};
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t source = indices[static_cast<size_t>(i)];
    for (int64_t j = 0; j < data.points.cols(); ++j) {
      batch.points(i, j) = data.points(source, j);
    }
    batch.labels[static_cast<size_t>(i)] =
        data.labels[static_cast<size_t>(source)];
  }
  return batch;
}

std::vector<int64_t> Shuffled(int64_t count, std::mt19937_64& random) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (size_t i = order.size(); i > 1; --i) {
    const auto other = static_cast<size_t>(Uniform(random) * i);
    std::swap(order[i - 1], order[other]);
  }
  return order;
}

}  // namespace mlp
