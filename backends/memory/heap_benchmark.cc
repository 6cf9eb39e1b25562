// Benchmarks: what watching the heap costs beside the allocator alone, for a
// malloc and a free of 64 bytes on a stack of a few frames.
#include <stdlib.h>

#include "backends/memory/target/real_allocator.h"
#include "benchmark/benchmark.h"
#include "profiler/record/heap.h"
#include "profiler/record/host/host.h"
#include "profiler/unwind/capture_stack.h"

namespace kymo {
namespace {

constexpr size_t kBytes = 64;

uint64_t Capture(const void* frame, uint64_t* pcs, uint64_t max) noexcept {
  return unwind::CaptureStackAbove(frame, pcs, max);
}

void Pairs(benchmark::State& state) {
  for (auto _ : state) {
    void* const block = malloc(kBytes);
    benchmark::DoNotOptimize(block);
    free(block);
  }
}

// Without the hooks.
void BM_Bare(benchmark::State& state) {
  free(malloc(kBytes));  // finds the allocator
  for (auto _ : state) {
    void* const block = memory::real.malloc(kBytes);
    benchmark::DoNotOptimize(block);
    memory::real.free(block);
  }
}
BENCHMARK(BM_Bare);

void BM_Off(benchmark::State& state) { Pairs(state); }
BENCHMARK(BM_Off);

void InSession(benchmark::State& state, record::RecordFlags flags) {
  record::SetStackCapture(Capture);
  record::SessionId id = record::kNoSession;
  if (record::StartSession({.scope = record::SessionScope::kThread,
                            .flags = flags,
                            .chunk_bytes_total = uint64_t{64} << 20,
                            .policy = record::FullPolicy::kOverwrite,
                            .heap_sample_interval = 512 * 1024},
                           &id) != 0) {
    state.SkipWithError("no session");
    return;
  }
  // Touches all the memory once, so that first touches are not measured.
  for (int i = 0; i < 2'000'000; ++i) free(malloc(kBytes));
  Pairs(state);
  record::StopSession(id);
  record::ReleaseSession(id);
}

void BM_Sampled(benchmark::State& state) {
  InSession(state, record::kGateHeap | record::kGateHeapSampled |
                       record::kGateHeapStacks);
}
BENCHMARK(BM_Sampled);

void BM_Counters(benchmark::State& state) {
  InSession(state, record::kGateHeapCounts);
}
BENCHMARK(BM_Counters);

void BM_All(benchmark::State& state) { InSession(state, record::kGateHeap); }
BENCHMARK(BM_All);

void BM_AllWithStacks(benchmark::State& state) {
  InSession(state, record::kGateHeap | record::kGateHeapStacks);
}
BENCHMARK(BM_AllWithStacks);

}  // namespace
}  // namespace kymo
