// From what was recorded to key averages, step by step.
//
//   ./bazelw run //tests/benchmarks:pipeline_benchmark
//   KYMO_PIPELINE_RANGES=100000000 ... --benchmark_filter=ranges:100000000
//
// The variable adds a size; 100 million ranges take 10 GiB.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/decode.h"
#include "profiler/analysis/call_tree.h"
#include "profiler/analysis/key_averages.h"
#include "profiler/api/record_function.h"
#include "profiler/base/op_inputs.h"
#include "profiler/base/parallel.h"
#include "profiler/model/trace.h"
#include "profiler/model/trace_shard.h"
#include "profiler/normalize/normalize.h"
#include "profiler/plugin/activity_backend.h"
#include "tests/benchmarks/synthetic_chunks.h"

namespace kymo::benchmarks {
namespace {

// The recording of the last size asked for: making one takes longer than
// measuring with it.
const SyntheticChunks& Chunks(size_t ranges, uint32_t threads = 8) {
  static std::unique_ptr<SyntheticChunks> chunks;
  static uint32_t chunks_threads = 0;
  if (chunks == nullptr || chunks->ranges() != ranges ||
      chunks_threads != threads) {
    chunks.reset();
    chunks = std::make_unique<SyntheticChunks>(
        SyntheticOptions{.ranges = ranges, .threads = threads});
    chunks_threads = threads;
  }
  return *chunks;
}

model::TraceShard Decode(const SyntheticChunks& chunks) {
  model::TraceShard shard = chunks.NewShard();
  cpu::DecodeChunks(chunks.input(), shard);
  return shard;
}

model::Trace ToTrace(model::TraceShard shard) {
  std::vector<model::TraceShard> shards;
  shards.push_back(std::move(shard));
  return *Normalize(std::move(shards),
                    {.start_ns = 1, .end_ns = INT64_MAX / 2});
}

void SetRanges(benchmark::State& state, size_t ranges) {
  const double all = static_cast<double>(state.iterations()) * 1e-9 *
                     static_cast<double>(ranges);
  state.counters["ns_per_range"] = benchmark::Counter(
      all, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// cores, and ranges in the recording.
void Sizes(benchmark::internal::Benchmark* b) {
  std::vector<int64_t> sizes = {1'000'000, 10'000'000};
  if (const char* const more = std::getenv("KYMO_PIPELINE_RANGES")) {
    sizes.push_back(std::atoll(more));
  }
  b->ArgNames({"ranges", "cores"})->UseRealTime();
  b->Unit(benchmark::kMillisecond);
  for (const int64_t size : sizes) {
    for (const int64_t cores : {1, 2}) b->Args({size, cores});
  }
}

void BM_Decode(benchmark::State& state) {
  const SyntheticChunks& chunks = Chunks(state.range(0));
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  for (auto _ : state) {
    auto shard = std::make_unique<model::TraceShard>(Decode(chunks));
    state.PauseTiming();
    shard.reset();
    state.ResumeTiming();
  }
  SetRanges(state, chunks.ranges());
}
BENCHMARK(BM_Decode)->Apply(Sizes);

void MeasureChunksToTrace(benchmark::State& state, uint32_t threads) {
  const SyntheticChunks& chunks = Chunks(state.range(0), threads);
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  for (auto _ : state) {
    auto trace = std::make_unique<model::Trace>(ToTrace(Decode(chunks)));
    state.PauseTiming();
    trace.reset();
    state.ResumeTiming();
  }
  SetRanges(state, chunks.ranges());
}

void BM_ChunksToTrace(benchmark::State& state) {
  MeasureChunksToTrace(state, 8);
}
BENCHMARK(BM_ChunksToTrace)->Apply(Sizes);

void BM_SelfTimesAndKeyAverages(benchmark::State& state) {
  const model::Trace trace = ToTrace(Decode(Chunks(state.range(0))));
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(analysis::SelfTimes(trace));
    benchmark::DoNotOptimize(analysis::KeyAverages(trace));
  }
  SetRanges(state, trace.event_count());
}
BENCHMARK(BM_SelfTimesAndKeyAverages)->Apply(Sizes);

void BM_KeyAverages(benchmark::State& state) {
  const model::Trace trace = ToTrace(Decode(Chunks(state.range(0))));
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(analysis::KeyAverages(trace));
  }
  SetRanges(state, trace.event_count());
}
BENCHMARK(BM_KeyAverages)->Apply(Sizes);

void BM_KeyAverages_MergeDuplicates(benchmark::State& state) {
  const model::Trace trace = ToTrace(Decode(Chunks(state.range(0))));
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        analysis::KeyAverages(trace, analysis::Duplicates::kMerge));
  }
  SetRanges(state, trace.event_count());
}
BENCHMARK(BM_KeyAverages_MergeDuplicates)->Apply(Sizes);

// Every range has inputs and a stack, of 50 and 300 different ones; those of
// one name have three and five.
model::Trace WithDetails(model::Trace trace) {
  model::TraceData data = std::move(trace).Release();
  std::vector<model::NameId> inputs;
  for (int64_t i = 0; i < 50; ++i) {
    const int64_t sizes[] = {64, i};
    const Input input = TensorMeta{.sizes = sizes, .dtype = DType::kFloat};
    std::string encoded(EncodedInputBytes(input), '\0');
    EncodeInput(input, encoded.data());
    inputs.push_back(data.strings.Intern(encoded));
  }
  std::vector<model::StackId> stacks;
  for (uint32_t i = 0; i < 300; ++i) {
    model::StackId stack = model::kEmptyStack;
    for (uint32_t frame = 0; frame < 12; ++frame) {
      stack = data.stacks.Push(
          stack, data.stacks.AddFrame({.line = 1 + i % (frame + 3)}));
    }
    stacks.push_back(stack);
  }
  std::mt19937 random(1);
  data.details.resize(data.start.size());
  for (size_t event = 0; event < data.details.size(); ++event) {
    const uint32_t name = Index(data.name[event]);
    data.details[event].inputs = inputs[(name + random() % 3) % inputs.size()];
    data.details[event].stack =
        stacks[(7 * name + random() % 5) % stacks.size()];
    data.detail[event] = static_cast<model::DetailIndex>(event);
  }
  return model::Trace(std::move(data));
}

void MeasureGrouped(benchmark::State& state,
                    const analysis::KeyAveragesOptions& options) {
  const model::Trace trace =
      WithDetails(ToTrace(Decode(Chunks(state.range(0)))));
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(analysis::KeyAverages(trace, options));
  }
  SetRanges(state, trace.event_count());
}

void BM_KeyAverages_ByShape(benchmark::State& state) {
  MeasureGrouped(state, {.by_input_shapes = true});
}
BENCHMARK(BM_KeyAverages_ByShape)->Apply(Sizes);

void BM_KeyAverages_ByStackOf5(benchmark::State& state) {
  MeasureGrouped(state, {.by_stack_n = 5});
}
BENCHMARK(BM_KeyAverages_ByStackOf5)->Apply(Sizes);

// All on one thread, which decoding and nesting must split as well.
void BM_ChunksToTrace_OneThread(benchmark::State& state) {
  MeasureChunksToTrace(state, 1);
}
BENCHMARK(BM_ChunksToTrace_OneThread)->Apply(Sizes);

// A session within the process: from Stop() to the averages.
void BM_StopToKeyAverages(benchmark::State& state) {
  const std::unique_ptr<ActivityBackend> backend = NewCpuBackend();
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  for (auto _ : state) {
    state.PauseTiming();
    auto session = *backend->NewSession({.target_path = ""});
    if (!session->Prepare(nullptr).ok() || !session->Start(getpid()).ok()) {
      state.SkipWithError("cannot record");
      return;
    }
    for (int64_t i = 0; i < state.range(0); ++i) {
      KYMO_RECORD_FUNCTION("operation");
    }
    state.ResumeTiming();
    session->Stop().IgnoreError();
    model::TraceShard shard;
    session->Collect(shard).IgnoreError();
    const model::Trace trace = ToTrace(std::move(shard));
    if (analysis::KeyAverages(trace)[0].count != state.range(0)) {
      state.SkipWithError("operations are missing");
      return;
    }
  }
  SetRanges(state, state.range(0));
}
BENCHMARK(BM_StopToKeyAverages)->Apply(Sizes);

}  // namespace
}  // namespace kymo::benchmarks
