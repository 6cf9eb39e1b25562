// Measures what callbacks cost an operation.
//
//   taskset -c 0 bazel-bin/profiler/callbacks/callbacks_benchmark
//       --benchmark_repetitions=5
#include <memory>

#include "benchmark/benchmark.h"
#include "kymo/callbacks.h"
#include "kymo/record_function.h"

namespace kymo {
namespace {

void Perform(benchmark::State& state) {
  for (auto _ : state) {
    RecordFunction op("benchmark");
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

RecordFunctionCallback Empty() {
  return RecordFunctionCallback([](const OperationView&) { return nullptr; },
                                [](const OperationView&, ObserverContext*) {});
}

// Callbacks for the length of one benchmark, which may run on many threads.
template <typename Add>
void WithCallbacks(benchmark::State& state, Add add) {
  if (state.thread_index() == 0) add();
  Perform(state);
  if (state.thread_index() == 0) ClearCallbacks();
}

void BM_Callbacks_None(benchmark::State& state) { Perform(state); }

void BM_Callbacks_OtherScope(benchmark::State& state) {
  WithCallbacks(state, [] {
    AddGlobalCallback(Empty().scopes({RecordScope::kUserScope}));
  });
}

void BM_Callbacks_EightOfLowProbability(benchmark::State& state) {
  WithCallbacks(state, [] {
    for (int i = 0; i < 8; ++i) {
      AddGlobalCallback(Empty().sampling_prob(1e-6));
    }
  });
}

void BM_Callbacks_OneInAHundred(benchmark::State& state) {
  WithCallbacks(state, [] { AddGlobalCallback(Empty().sampling_prob(0.01)); });
}

void BM_Callbacks_ThreadSwitchedOff(benchmark::State& state) {
  const DisableRecordFunctionGuard guard;
  WithCallbacks(state, [] { AddGlobalCallback(Empty()); });
}

void BM_Callbacks_One(benchmark::State& state) {
  WithCallbacks(state, [] { AddGlobalCallback(Empty()); });
}

void BM_Callbacks_OneWithContext(benchmark::State& state) {
  WithCallbacks(state, [] {
    AddGlobalCallback(RecordFunctionCallback([](const OperationView&) {
      return std::make_unique<ObserverContext>();
    }));
  });
}

void BM_Callbacks_Four(benchmark::State& state) {
  WithCallbacks(state, [] {
    for (int i = 0; i < 4; ++i) AddGlobalCallback(Empty());
  });
}

BENCHMARK(BM_Callbacks_None);
BENCHMARK(BM_Callbacks_OtherScope);
BENCHMARK(BM_Callbacks_EightOfLowProbability);
BENCHMARK(BM_Callbacks_OneInAHundred);
BENCHMARK(BM_Callbacks_ThreadSwitchedOff);
BENCHMARK(BM_Callbacks_One)->Threads(1)->Threads(2);
BENCHMARK(BM_Callbacks_OneWithContext);
BENCHMARK(BM_Callbacks_Four);

}  // namespace
}  // namespace kymo
