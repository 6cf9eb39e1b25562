#include "profiler/callbacks/sampling_countdown.h"

#include <cmath>

namespace kymo::internal {

// splitmix64 (Steele, Lea, Flood 2014): eight bytes of state per thread, and
// good from the first number on, whatever the seed.
uint64_t SamplingRandom::Next() noexcept {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

int64_t SamplingRandom::DrawCountdown(double probability) noexcept {
  if (probability >= 1) return 1;
  if (!(probability > 0)) return kNever;
  const double u = static_cast<double>((Next() >> 11) + 1) * 0x1p-53;
  // log1p, because 1-p is 1 for the smallest probabilities.
  const double trials = std::floor(std::log(u) / std::log1p(-probability));
  if (!(trials < static_cast<double>(kNever))) return kNever;
  return static_cast<int64_t>(trials) + 1;
}

}  // namespace kymo::internal
