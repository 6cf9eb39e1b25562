// Benchmarks: profiles of the heaps of two threads, for a million and for ten
// million records.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/base/parallel.h"
#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

// Each thread keeps up to 1000 blocks alive and frees them in another order.
// There is an operation for every 16 allocations and a step for every 1024. 500
// stacks.
model::Trace MakeTrace(int64_t records) {
  TestTrace t;
  TestMemory memory;
  std::vector<model::StackId> stacks;
  for (uint32_t i = 0; i < 500; ++i) {
    stacks.push_back(t.data().stacks.Push(
        model::kEmptyStack,
        t.data().stacks.AddFrame({.function = t.Intern("f"), .line = i})));
  }
  TimeNs now = 0;
  const int64_t allocations = records / 4;
  for (int thread = 0; thread < 2; ++thread) {
    const auto track = t.AddThread(1, 1 + thread, "worker");
    std::vector<TestMemory::Block> alive;
    for (int64_t i = 0; i < allocations; ++i, now += 100) {
      if (i % 1024 == 0 && thread == 0) {
        t.AddAnnotation(track, "ProfilerStep#" + std::to_string(i / 1024), now,
                        now + 1024 * 100);
      }
      if (i % 16 == 0) t.AddRange(track, "operation", now, now + 16 * 100 - 1);
      alive.push_back(memory.Allocate(
          {.track = track, .bytes = 16 + i % 1000, .stack = stacks[i % 500]},
          now));
      if (alive.size() < 1'000 && i + 1 < allocations) continue;
      // 7 has no divisor in common with any number of blocks that is alive
      // here.
      for (size_t k = 0; k < alive.size(); ++k) {
        memory.Free(alive[k * 7 % alive.size()], track,
                    now + 1 + static_cast<TimeNs>(k) / 16);
      }
      alive.clear();
    }
  }
  std::move(memory).AddTo(t.data());
  t.SetWindow(0, now + 100);
  return std::move(t).Build();
}

// Made once: the larger one takes seconds.
const model::Trace& TraceOf(int64_t records) {
  static std::map<int64_t, model::Trace>* const traces =
      new std::map<int64_t, model::Trace>();
  const auto found = traces->find(records);
  if (found != traces->end()) return found->second;
  return traces->emplace(records, MakeTrace(records)).first->second;
}

void BM_ProfileMemory(benchmark::State& state) {
  const model::Trace& trace = TraceOf(state.range(0));
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  for (auto _ : state) benchmark::DoNotOptimize(ProfileMemory(trace));
  state.SetItemsProcessed(state.iterations() *
                          static_cast<int64_t>(trace.memory().size()));
}
BENCHMARK(BM_ProfileMemory)
    ->ArgNames({"records", "cores"})
    ->ArgsProduct({{1'000'000, 10'000'000}, {1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace kymo::analysis
