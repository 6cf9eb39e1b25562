// A oneTBB program that knows nothing of Kymo.
//
//   tbb_client         loops and a reduction, on more than one thread
//   tbb_client tasks   a million tasks of 0.7 us, to see what telling costs
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "tbb/blocked_range.h"
#include "tbb/global_control.h"
#include "tbb/parallel_for.h"
#include "tbb/parallel_reduce.h"
#include "tbb/partitioner.h"
#include "tbb/task_arena.h"

namespace {

using Range = tbb::blocked_range<size_t>;

// A worker runs one of two bodies: each waits for the other one, if that comes
// within 20 s. In an arena for two threads, whatever CPUs there are.
void LetAWorkerTakePart() {
  std::atomic<int> arrived = 0;
  const auto wait = [&](const Range&) {
    ++arrived;
    for (int naps = 0; arrived < 2 && naps < 20'000; ++naps) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  tbb::task_arena(2).execute([&] {
    tbb::parallel_for(Range(0, 2, 1), wait, tbb::simple_partitioner());
  });
}

double LoopsAndAReduction(std::vector<double>& values) {
  LetAWorkerTakePart();
  for (int round = 0; round < 3; ++round) {
    tbb::parallel_for(size_t{0}, values.size(),
                      [&](size_t i) { values[i] += std::sin(i); });
  }
  return tbb::parallel_reduce(
      Range(0, values.size()), 0.0,
      [&](const Range& range, double partial) {
        for (size_t i = range.begin(); i < range.end(); ++i) {
          partial += values[i];
        }
        return partial;
      },
      [](double a, double b) { return a + b; });
}

double ManyTasks(std::vector<double>& values) {
  constexpr size_t kTaskSize = 64;
  for (int round = 0; round < 256; ++round) {
    tbb::parallel_for(
        Range(0, values.size(), kTaskSize),
        [&](const Range& range) {
          for (size_t i = range.begin(); i < range.end(); ++i) {
            values[i] += std::sin(i);
          }
        },
        tbb::simple_partitioner());
  }
  return values[0];
}

}  // namespace

int main(int argc, char**) {
  const tbb::global_control threads(
      tbb::global_control::max_allowed_parallelism, 4);
  std::vector<double> values(1 << 18);
  const double sum = argc > 1 ? ManyTasks(values) : LoopsAndAReduction(values);
  return std::isnan(sum);
}
