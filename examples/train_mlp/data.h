// data.h - two half moons, the classic set that no straight line separates.
//
//        o o o
//      o       o   x
//      o         x o       o = class 0, x = class 1
//          x       x
//            x x x
//
// Equal seeds give equal data on every machine.
#ifndef KYMO_EXAMPLES_TRAIN_MLP_DATA_H_
#define KYMO_EXAMPLES_TRAIN_MLP_DATA_H_

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "examples/train_mlp/matrix.h"

namespace mlp {

struct Dataset {
  Matrix points;                // one row of two coordinates per point
  std::vector<int32_t> labels;  // 0 or 1, one per row
};

inline constexpr int64_t kInputs = 2;
inline constexpr int64_t kClasses = 2;

// `count` points, half of each class, with Gaussian noise around the moons.
Dataset MakeMoons(int64_t count, double noise, uint64_t seed);

// The points of `data` named by `indices`, in that order.
Dataset Gather(const Dataset& data, std::span<const int64_t> indices);

// [0, count) in an order drawn from `random`.
std::vector<int64_t> Shuffled(int64_t count, std::mt19937_64& random);

// Standard distributions differ between libraries; these do not.
double Uniform(std::mt19937_64& random);  // in [0, 1)
double Gaussian(std::mt19937_64& random);

}  // namespace mlp

#endif  // KYMO_EXAMPLES_TRAIN_MLP_DATA_H_
