// Measures the cost of emitted ranges where no tool listens.
#include <x86intrin.h>

#include <string>

#include "benchmark/benchmark.h"
#include "kymo/emit_itt.h"
#include "kymo/emit_nvtx.h"
#include "kymo/record_function.h"

namespace kymo {
namespace {

void BM_TwoClockReads(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(__rdtsc());
    benchmark::DoNotOptimize(__rdtsc());
  }
}

template <typename Emit>
void BM_EmittedOperation_NoTool(benchmark::State& state) {
  Emit emit;
  if (!emit.Start().ok()) state.SkipWithError("not started");
  int i = 0;
  for (auto _ : state) {
    RecordFunction range("benchmark");
    benchmark::DoNotOptimize(++i);
  }
}

template <typename Range>
void BM_RangeOfOnesOwn_NoTool(benchmark::State& state) {
  const std::string message = "benchmark";
  for (auto _ : state) {
    const Range range(message);
    benchmark::ClobberMemory();
  }
}

BENCHMARK(BM_TwoClockReads);
BENCHMARK(BM_EmittedOperation_NoTool<EmitNvtx>);
BENCHMARK(BM_EmittedOperation_NoTool<EmitItt>);
BENCHMARK(BM_RangeOfOnesOwn_NoTool<NvtxRange>);
BENCHMARK(BM_RangeOfOnesOwn_NoTool<IttRange>);

}  // namespace
}  // namespace kymo
