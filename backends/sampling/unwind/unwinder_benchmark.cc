// Benchmarks: what a sample costs the collector when its rules are known.
#include <benchmark/benchmark.h>

#include "backends/sampling/unwind/test_frames.h"
#include "backends/sampling/unwind/test_own_stack.h"
#include "backends/sampling/unwind/unwinder.h"
#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/process_mappings.h"
#include "profiler/symbolize/raw_stacks.h"

namespace kymo::sampling {
namespace {

void Capture(void* result) {
  *static_cast<OwnStack*>(result) = CaptureOwnStack(16384);
}

// A thread with `frames` frames below main and the benchmark library.
OwnStack StackOf(int frames) {
  OwnStack own;
  test_recursion(frames, Capture, &own);
  return own;
}

void BM_Unwind_Cached(benchmark::State& state) {
  symbolize::ModuleTable modules;
  symbolize::AddressSpace space;
  symbolize::AddOwnMappings(modules, space);
  Unwinder unwinder(&modules);
  UnwoundStack stack;
  const OwnStack own = StackOf(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    unwinder.Unwind(space, own.registers, own.copy(), false, &stack);
    benchmark::DoNotOptimize(stack.frames.data());
  }
  state.counters["frames"] = static_cast<double>(stack.frames.size());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Unwind_Cached)->Arg(0)->Arg(10)->Arg(50);

void BM_UnwindAndIntern_Cached(benchmark::State& state) {
  symbolize::ModuleTable modules;
  symbolize::AddressSpace space;
  symbolize::AddOwnMappings(modules, space);
  Unwinder unwinder(&modules);
  symbolize::RawStacks stacks;
  UnwoundStack stack;
  const OwnStack owns[] = {StackOf(static_cast<int>(state.range(0))),
                           StackOf(static_cast<int>(state.range(0)) + 1)};
  size_t next = 0;
  for (auto _ : state) {
    const OwnStack& own = owns[next++ & 1];
    unwinder.Unwind(space, own.registers, own.copy(), false, &stack);
    benchmark::DoNotOptimize(stacks.Intern(stack.frames));
  }
  state.counters["frames"] = static_cast<double>(stack.frames.size());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_UnwindAndIntern_Cached)->Arg(0)->Arg(10)->Arg(50);

// The first sample of a program: every rule comes from libdw.
void BM_Unwind_FirstTime(benchmark::State& state) {
  symbolize::ModuleTable modules;
  symbolize::AddressSpace space;
  symbolize::AddOwnMappings(modules, space);
  UnwoundStack stack;
  const OwnStack own = StackOf(10);
  for (auto _ : state) {
    Unwinder unwinder(&modules);
    unwinder.Unwind(space, own.registers, own.copy(), false, &stack);
    benchmark::DoNotOptimize(stack.frames.data());
  }
  state.counters["frames"] = static_cast<double>(stack.frames.size());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Unwind_FirstTime);

}  // namespace
}  // namespace kymo::sampling
