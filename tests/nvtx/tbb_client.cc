// A oneTBB program that knows nothing of Kymo.
#include <cmath>
#include <vector>

#include "tbb/blocked_range.h"
#include "tbb/global_control.h"
#include "tbb/parallel_for.h"
#include "tbb/parallel_reduce.h"

int main() {
  const tbb::global_control threads(
      tbb::global_control::max_allowed_parallelism, 4);
  std::vector<double> values(1 << 18);
  for (int round = 0; round < 3; ++round) {
    tbb::parallel_for(size_t{0}, values.size(),
                      [&](size_t i) { values[i] += std::sin(i); });
  }
  const double sum = tbb::parallel_reduce(
      tbb::blocked_range<size_t>(0, values.size()), 0.0,
      [&](const tbb::blocked_range<size_t>& range, double partial) {
        for (size_t i = range.begin(); i < range.end(); ++i) {
          partial += values[i];
        }
        return partial;
      },
      [](double a, double b) { return a + b; });
  return std::isnan(sum);
}
