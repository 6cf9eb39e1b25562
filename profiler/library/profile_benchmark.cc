// Measures the cost of sessions: of operations with shapes and stacks while a
// session records, and of the way from Stop() to averages. It also measures
// bare clock reads, to compare with.
//
//   bazel run -c opt //profiler/library:profile_benchmark
#include <cstdint>
#include <functional>

#include "benchmark/benchmark.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "profiler/base/clock.h"

namespace kymo {
namespace {

void BM_TwoClockReads(benchmark::State& state) {
  const ClockSource source = DetectClockSource();
  for (auto _ : state) {
    benchmark::DoNotOptimize(ReadTicks(source));
    benchmark::DoNotOptimize(ReadTicks(source));
  }
}

struct Tensor {
  int64_t sizes[4];
};
TensorMeta KymoInput(const Tensor& tensor) {
  return {.sizes = tensor.sizes, .dtype = DType::kFloat};
}

// Sessions are started anew now and then, so that memory stays bounded and is
// recorded into again.
constexpr int64_t kOperationsPerSession = 100'000;

template <typename Operation>
void RunInSessions(benchmark::State& state, const ProfileOptions& options,
                   Operation operation) {
  while (state.KeepRunningBatch(kOperationsPerSession)) {
    state.PauseTiming();
    Profile profile(options);
    if (!profile.Start().ok()) state.SkipWithError("cannot start");
    state.ResumeTiming();
    for (int64_t i = 0; i < kOperationsPerSession; ++i) operation();
    state.PauseTiming();
    if (!profile.Stop().ok()) state.SkipWithError("cannot stop");
    state.ResumeTiming();
  }
}

void BM_Operation_Plain(benchmark::State& state) {
  RunInSessions(state, {}, [] { RecordFunction range("benchmark"); });
}

void BM_Operation_ThreeShapes(benchmark::State& state) {
  Tensor a = {{64, 3, 224, 224}};
  Tensor b = {{64, 3, 7, 7}};
  Tensor c = {{1, 64, 1, 1}};
  RunInSessions(state, {.record_shapes = true}, [&] {
    benchmark::DoNotOptimize(a.sizes[0]++);
    KYMO_RECORD_OP("aten::conv2d", a, b, c);
  });
}

// Calls itself until `depth` frames are on the stack, then runs the loop there.
__attribute__((noinline)) void AtDepth(int depth,
                                       const std::function<void()>& run) {
  if (depth == 0) {
    run();
  } else {
    AtDepth(depth - 1, run);
  }
  benchmark::ClobberMemory();
}

void BM_Operation_Stack(benchmark::State& state) {
  // The loop's own frames and those below main are some ten.
  AtDepth(static_cast<int>(state.range(0)), [&] {
    RunInSessions(state, {.with_stack = true},
                  [] { RecordFunction range("benchmark"); });
  });
}

// Operations six deep.
void Operations(int64_t count) {
  for (int64_t i = 0; i < count; i += 6) {
    RecordFunction a("a");
    RecordFunction b("b");
    RecordFunction c("c");
    RecordFunction d("d");
    RecordFunction e("e");
    RecordFunction f("f");
  }
}

void BM_StopToKeyAverages(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    Profile profile;
    if (!profile.Start().ok()) state.SkipWithError("cannot start");
    Operations(state.range(0));
    state.ResumeTiming();
    if (!profile.Stop().ok()) state.SkipWithError("cannot stop");
    const KeyAverages averages = profile.key_averages();
    benchmark::DoNotOptimize(averages.size());
    if (averages.size() != 6) state.SkipWithError("lost operations");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["ns_per_operation"] = benchmark::Counter(
      static_cast<double>(state.iterations() * state.range(0)) / 1e9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK(BM_TwoClockReads);
BENCHMARK(BM_Operation_Plain);
BENCHMARK(BM_Operation_ThreeShapes);
BENCHMARK(BM_Operation_Stack)->Arg(0)->Arg(5);
BENCHMARK(BM_StopToKeyAverages)
    ->Arg(1'000'000)
    ->Arg(10'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace kymo
