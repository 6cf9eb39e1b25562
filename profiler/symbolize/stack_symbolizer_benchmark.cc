// Benchmarks: what stacks cost after a session, by how often they repeat.
#include <benchmark/benchmark.h>
#include <execinfo.h>

#include <vector>

#include "profiler/model/trace_shard.h"
#include "profiler/symbolize/process_mappings.h"
#include "profiler/symbolize/stack_symbolizer.h"

namespace kymo::symbolize {
namespace {

std::vector<uint64_t> OwnStack() {
  void* pcs[64];
  const int count = backtrace(pcs, 64);
  std::vector<uint64_t> stack;
  for (int i = 0; i < count; ++i) {
    stack.push_back(reinterpret_cast<uint64_t>(pcs[i]));
  }
  return stack;
}

// Stacks of 16 frames, two at a time; `range(0)` innermost frames differ.
void BM_AddStack_Seen(benchmark::State& state) {
  ModuleTable modules;
  AddressSpace space;
  AddOwnMappings(modules, space);
  StackSymbolizer symbolizer(&modules);
  const uint64_t pc = OwnStack().front();
  std::vector<uint64_t> stacks[2];
  for (uint64_t i = 0; i < 16; ++i) {
    stacks[0].push_back(pc + i);
    stacks[1].push_back(pc + i);
    if (i < static_cast<uint64_t>(state.range(0))) stacks[1].back() += 16;
  }
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(symbolizer.Add(stacks[next++ & 1], space));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_AddStack_Seen)->Arg(0)->Arg(1)->Arg(4)->Arg(16);

// The first stack of a program: opens the program's files and reads their
// tables.
void BM_AddStack_First(benchmark::State& state) {
  const std::vector<uint64_t> stack = OwnStack();
  for (auto _ : state) {
    ModuleTable modules;
    AddressSpace space;
    AddOwnMappings(modules, space);
    model::TraceShard shard;
    StackSymbolizer symbolizer(&modules);
    symbolizer.Add(stack, space);
    benchmark::DoNotOptimize(symbolizer.Name(shard));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_AddStack_First)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kymo::symbolize
