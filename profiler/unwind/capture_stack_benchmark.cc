// Benchmarks: what a stack costs the operation that asks for it.
#include <benchmark/benchmark.h>
#include <execinfo.h>
#include <unwind.h>

#include <vector>

#include "profiler/unwind/capture_stack.h"
#include "profiler/unwind/test_chain.h"

namespace kymo::unwind {
namespace {

constexpr size_t kMost = 128;

void Capture(uint64_t* pcs, size_t max) {
  benchmark::DoNotOptimize(CaptureStack(pcs, max, 0));
}

void Backtrace(uint64_t* pcs, size_t max) {
  benchmark::DoNotOptimize(
      backtrace(reinterpret_cast<void**>(pcs), static_cast<int>(max)));
}

// The baseline: only the calls, the loop and the writing of words.
[[gnu::noinline]] void NoStack(uint64_t* pcs, size_t max) {
  for (size_t i = 0; i < max; ++i) pcs[i] = i;
}

// Stacks of `range(0)` frames as in real programs: six kinds of frames in turn,
// compiled without frame pointers, on top of the benchmark's own frames.
template <auto kTake>
void BM_Stack(benchmark::State& state) {
  struct Run {
    benchmark::State& state;
    size_t frames;
  } run = {state, static_cast<size_t>(state.range(0))};
  // Variant 1 of the kinds small, realigned, dynamic and with all registers.
  constexpr uint8_t kKinds[] = {1, 16, 7, 10};
  std::vector<uint8_t> steps(run.frames);
  for (size_t i = 0; i < steps.size(); ++i) steps[i] = kKinds[i % 4];
  Chain chain{.steps = steps.data(),
              .left = steps.size(),
              .leaf =
                  [](void* argument) {
                    const Run& run = *static_cast<Run*>(argument);
                    uint64_t pcs[kMost];
                    for (auto _ : run.state) {
                      kTake(pcs, run.frames);
                      benchmark::ClobberMemory();
                    }
                  },
              .argument = &run};
  chain.Next();
  state.counters["per_frame"] =
      benchmark::Counter(static_cast<double>(run.frames),
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Stack<NoStack>)->Name("BM_NoStack")->Arg(15);
BENCHMARK(BM_Stack<Capture>)->Name("BM_CaptureStack")->Arg(5)->Arg(15)->Arg(60);
BENCHMARK(BM_Stack<Capture>)->Name("BM_CaptureStack")->Arg(15)->Threads(4);
BENCHMARK(BM_Stack<Backtrace>)->Name("BM_Backtrace")->Arg(5)->Arg(15)->Arg(60);

}  // namespace
}  // namespace kymo::unwind
