// test_benchmark - benchmarks whose counters testing_test knows.
#include <memory>

#include "benchmark/benchmark.h"
#include "kymo/record_function.h"

namespace {

void ThreeAllocations(benchmark::State& state) {
  for (auto _ : state) {
    kymo::RecordFunction range("body");
    for (int i = 0; i < 3; ++i) {
      auto block = std::make_unique<char[]>(100);
      benchmark::DoNotOptimize(block.get());
    }
  }
}
BENCHMARK(ThreeAllocations);

void Nothing(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(state.iterations());
}
BENCHMARK(Nothing);

}  // namespace
