// The cost of a range, beside the cost of reading the clock twice.
//
//   taskset -c 0 bazel-bin/profiler/callbacks/record_function_benchmark
//       --benchmark_repetitions=5
//
// Every figure is per range; BM_TwoClockReads is the yardstick of the same run.
#include <sys/mman.h>
#include <x86intrin.h>

#include <cstring>
#include <string_view>

#include "benchmark/benchmark.h"
#include "kymo/record_function.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/host/host.h"
#include "profiler/unwind/capture_stack.h"

namespace kymo {
namespace {

void BM_EmptyLoop(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(++i);
}

void BM_TwoClockReads(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(__rdtsc());
    benchmark::DoNotOptimize(__rdtsc());
  }
}

record::SessionId session;

// The flight recorder's policy over few chunks: what is measured is recording
// into memory that was touched before, for as long as one likes.
void StartTouched(record::RecordFlags flags = 0) {
  record::StartSession({.flags = flags,
                        .chunk_bytes_total = 8 * record::kChunkBytes,
                        .policy = record::FullPolicy::kOverwrite},
                       &session);
}

void StopUnread() {
  record::StopSession(session);
  record::ReleaseSession(session);
}

void BM_Range_Off(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) {
    RecordFunction range("benchmark");
    benchmark::DoNotOptimize(++i);
  }
}

void BM_Range_On(benchmark::State& state) {
  if (state.thread_index() == 0) StartTouched();
  for (auto _ : state) {
    RecordFunction range("benchmark");
    benchmark::ClobberMemory();
  }
  if (state.thread_index() == 0) StopUnread();
  state.SetItemsProcessed(state.iterations());
}

// As many records as the arena holds, each into a page that the process has
// not touched before: an earlier session's are given back.
constexpr int64_t kFirstTouchRanges = 30'000'000;

void StartUntouched(const benchmark::State&) {
  record::StartSession({.chunk_bytes_total = uint64_t{1} << 30,
                        .policy = record::FullPolicy::kStop},
                       &session);
  const record::Arena& arena = *record::ProcessArena();
  madvise(arena.slots(0), uint64_t{arena.high_water()} * record::kChunkBytes,
          MADV_DONTNEED);
}

void BM_Range_OnFirstTouch(benchmark::State& state) {
  const record::StreamEntry& stream = record::ProcessArena()->stream(0);
  const uint64_t dropped = stream.dropped.load();
  for (auto _ : state) {
    RecordFunction range("benchmark");
    benchmark::ClobberMemory();
  }
  if (stream.dropped.load() != dropped) state.SkipWithError("dropped ranges");
}

void BM_Range_OnDynamicNameTwoIntegers(benchmark::State& state) {
  StartTouched();
  char text[] = "a dynamic name of 24 byt";
  int64_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(text[0]);
    RecordFunction range(std::string_view(text, 24),
                         {{"rows", i}, {"cols", 7}});
    benchmark::DoNotOptimize(++i);
  }
  StopUnread();
  state.SetItemsProcessed(state.iterations());
}

void BM_Range_OnTwoIntegers(benchmark::State& state) {
  StartTouched();
  int64_t i = 0;
  for (auto _ : state) {
    RecordFunction range("benchmark", {{"rows", i}, {"cols", 7}});
    benchmark::DoNotOptimize(++i);
  }
  StopUnread();
}

struct Tensor {
  int64_t sizes[4];
};
TensorMeta KymoInput(const Tensor& tensor) {
  return {.sizes = tensor.sizes, .dtype = DType::kFloat};
}

void RecordThreeShapes(benchmark::State& state) {
  Tensor a = {{64, 3, 224, 224}};
  Tensor b = {{64, 3, 7, 7}};
  Tensor c = {{1, 64, 1, 1}};
  for (auto _ : state) {
    benchmark::DoNotOptimize(a.sizes[0]++);
    KYMO_RECORD_OP("aten::conv2d", a, b, c);
  }
}

void BM_Range_ThreeShapesOff(benchmark::State& state) {
  RecordThreeShapes(state);
}

void BM_Range_OnThreeShapes(benchmark::State& state) {
  StartTouched(record::kGateInputs);
  RecordThreeShapes(state);
  StopUnread();
}

uint64_t CaptureForRecorder(const void* frame, uint64_t* pcs,
                            uint64_t max) noexcept {
  return unwind::CaptureStackAbove(frame, pcs, max);
}

__attribute__((noinline)) void RecordWithStack(benchmark::State& state,
                                               int depth) {
  if (depth > 0) {
    RecordWithStack(state, depth - 1);
    benchmark::ClobberMemory();
    return;
  }
  for (auto _ : state) RecordFunction range("benchmark");
}

// The operation's stack, without the recorder's own frames, is 15 deep.
void BM_Range_OnStackOf15(benchmark::State& state) {
  record::SetStackCapture(CaptureForRecorder);
  StartTouched(record::kGateStacks);
  uint64_t pcs[64];
  const int frames_here = static_cast<int>(unwind::CaptureStack(pcs, 64, 0));
  RecordWithStack(state, 15 - frames_here - 1);
  StopUnread();
  record::SetStackCapture(nullptr);
}

void BM_Instant_On(benchmark::State& state) {
  StartTouched();
  for (auto _ : state) Instant("benchmark");
  StopUnread();
}

void BM_Counter_On(benchmark::State& state) {
  StartTouched();
  for (auto _ : state) Counter("benchmark", 1.5);
  StopUnread();
}

BENCHMARK(BM_EmptyLoop);
BENCHMARK(BM_TwoClockReads);
BENCHMARK(BM_Range_Off);
BENCHMARK(BM_Range_On)->Threads(1)->Threads(2);
BENCHMARK(BM_Range_OnFirstTouch)
    ->Iterations(kFirstTouchRanges)
    ->Setup(StartUntouched)
    ->Teardown([](const benchmark::State&) { StopUnread(); });
BENCHMARK(BM_Range_OnTwoIntegers);
BENCHMARK(BM_Range_OnDynamicNameTwoIntegers);
BENCHMARK(BM_Range_ThreeShapesOff);
BENCHMARK(BM_Range_OnThreeShapes);
BENCHMARK(BM_Range_OnStackOf15);
BENCHMARK(BM_Instant_On);
BENCHMARK(BM_Counter_On);

}  // namespace
}  // namespace kymo
