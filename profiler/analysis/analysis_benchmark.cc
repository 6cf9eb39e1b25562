// Averages and totals over a million ranges; samples by function.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <utility>

#include "profiler/analysis/averages/key_averages.h"
#include "profiler/analysis/averages/sampled_functions.h"
#include "profiler/analysis/averages/totals.h"
#include "profiler/analysis/findings/findings.h"
#include "profiler/base/parallel.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

constexpr int kRanges = 1'000'000;

// Trees of 21 ranges (1 + 4 + 16) on `threads` threads, `names` names.
model::Trace MakeTrace(int threads, int names) {
  TestTrace t;
  for (int thread = 0; thread < threads; ++thread) {
    const auto track = t.AddThread(1, 1 + thread, "worker");
    TimeNs now = 0;
    int next = 0;
    const auto name = [&] {
      return "operation_" + std::to_string(next++ * 7919 % names);
    };
    for (int i = 0; i < kRanges / threads / 21; ++i, now += 10'000) {
      t.AddRange(track, name(), now, now + 9'000);
      for (int j = 0; j < 4; ++j) {
        const TimeNs start = now + 100 + j * 2'000;
        t.AddRange(track, name(), start, start + 1'900);
        for (int k = 0; k < 4; ++k) {
          t.AddRange(track, name(), start + 10 + k * 400,
                     start + 300 + k * 400);
        }
      }
    }
  }
  return std::move(t).Build();
}

template <typename Analyse>
void Measure(benchmark::State& state, const Analyse& analyse) {
  const model::Trace trace =
      MakeTrace(/*threads=*/2, static_cast<int>(state.range(1)));
  const ParallelismLimit limit(static_cast<int>(state.range(0)));
  for (auto _ : state) analyse(trace);
  state.SetItemsProcessed(state.iterations() *
                          static_cast<int64_t>(trace.event_count()));
}

void BM_Findings(benchmark::State& state) {
  Measure(state, [](const model::Trace& trace) {
    benchmark::DoNotOptimize(FindFindings(trace));
  });
}
BENCHMARK(BM_Findings)
    ->ArgNames({"cores", "names"})
    ->Args({1, 50})
    ->Args({2, 50})
    ->UseRealTime();

void BM_KeyAverages(benchmark::State& state) {
  Measure(state, [](const model::Trace& trace) {
    benchmark::DoNotOptimize(KeyAverages(trace));
  });
}
BENCHMARK(BM_KeyAverages)
    ->ArgNames({"cores", "names"})
    ->ArgsProduct({{1, 2}, {100, 10'000}})
    ->UseRealTime();

void BM_KeyAverages_MergeDuplicates(benchmark::State& state) {
  Measure(state, [](const model::Trace& trace) {
    benchmark::DoNotOptimize(KeyAverages(trace, Duplicates::kMerge));
  });
}
BENCHMARK(BM_KeyAverages_MergeDuplicates)
    ->ArgNames({"cores", "names"})
    ->ArgsProduct({{1, 2}, {100}})
    ->UseRealTime();

void BM_Totals(benchmark::State& state) {
  Measure(state, [](const model::Trace& trace) {
    benchmark::DoNotOptimize(ComputeTotals(trace));
  });
}
BENCHMARK(BM_Totals)
    ->ArgNames({"cores", "names"})
    ->ArgsProduct({{1, 2}, {100}})
    ->UseRealTime();

// 100 000 samples of 20 000 stacks, 20 frames deep.
void BM_SampledFunctions(benchmark::State& state) {
  TestTrace t;
  const auto track = t.AddThread(1, 1, "main");
  for (int i = 0; i < 100'000; ++i) {
    model::StackId stack = model::kEmptyStack;
    for (int depth = 0; depth < 20; ++depth) {
      const int function = (i % 20'000 >> depth) * 31 % 997;
      stack = t.data().stacks.Push(
          stack, t.data().stacks.AddFrame(
                     {.function = t.Intern(std::to_string(function))}));
    }
    t.data().samples.push_back({track, stack, i, 1});
  }
  const model::Trace trace = std::move(t).Build();
  for (auto _ : state) benchmark::DoNotOptimize(SampledFunctions(trace));
  state.SetItemsProcessed(state.iterations() *
                          static_cast<int64_t>(trace.samples().size()));
}
BENCHMARK(BM_SampledFunctions);

}  // namespace
}  // namespace kymo::analysis
