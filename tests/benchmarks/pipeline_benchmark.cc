// From what was recorded to key averages, step by step.
//
//   ./bazelw run //tests/benchmarks:pipeline_benchmark
//   KYMO_PIPELINE_RANGES=100000000 ... --benchmark_filter=ranges:100000000
//
// The variable adds a size; 100 million ranges take 10 GiB. Of each counter the
// smallest of all iterations is shown: see StageTimer.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/stream/decode/decode.h"
#include "kymo/record_function.h"
#include "profiler/analysis/averages/key_averages.h"
#include "profiler/base/column.h"
#include "profiler/base/op_inputs.h"
#include "profiler/base/parallel.h"
#include "profiler/model/trace.h"
#include "profiler/model/trace_shard.h"
#include "profiler/normalize/normalize.h"
#include "profiler/plugin/activity_backend.h"
#include "tests/benchmarks/stage_timer.h"
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
  stream::DecodeChunks(chunks.input(), shard);
  return shard;
}

model::Trace ToTrace(model::TraceShard shard) {
  std::vector<model::TraceShard> shards;
  shards.push_back(std::move(shard));
  return *Normalize(std::move(shards),
                    {.start_ns = 1, .end_ns = INT64_MAX / 2});
}

// The bytes of the columns that every event has.
size_t ColumnBytes(const model::TraceData& data) {
  const auto bytes = [](const auto& column) {
    return column.size() * sizeof(column[0]);
  };
  return bytes(data.start) + bytes(data.end) + bytes(data.name) +
         bytes(data.track) + bytes(data.parent) + bytes(data.detail) +
         bytes(data.type) + bytes(data.scope) + bytes(data.flags);
}

// cores, and ranges in the recording.
void Sizes(benchmark::internal::Benchmark* b) {
  std::vector<int64_t> sizes = {1'000'000, 10'000'000};
  if (const char* const more = std::getenv("KYMO_PIPELINE_RANGES")) {
    sizes.push_back(std::atoll(more));
  }
  b->ArgNames({"ranges", "cores"})->UseManualTime();
  b->Unit(benchmark::kMillisecond);
  for (const int64_t size : sizes) {
    for (const int64_t cores : {1, 2}) b->Args({size, cores});
  }
}

// The best that the machine does with memory, for comparison: a copy, and the
// first write to memory that is new to the process. The arguments are bytes,
// more than any cache has, and cores.
void ManyBytes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"bytes", "cores"})->UseManualTime();
  for (const int64_t cores : {1, 2}) b->Args({int64_t{256} << 20, cores});
}

void BM_CopyMemory(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  Column<char> from(bytes, 1);
  Column<char> to(bytes, 1);
  StageTimer timer(state, bytes);
  for (auto _ : state) {
    timer.Time([&] {
      ParallelFor(bytes, size_t{1} << 20, [&](size_t begin, size_t end) {
        std::memcpy(to.data() + begin, from.data() + begin, end - begin);
      });
    });
  }
}
BENCHMARK(BM_CopyMemory)->Apply(ManyBytes);

void BM_TouchNewMemory(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  StageTimer timer(state, bytes);
  for (auto _ : state) {
    Column<char> to(bytes);
    timer.Time([&] {
      ParallelFor(bytes, size_t{2} << 20, [&](size_t begin, size_t end) {
        std::memset(to.data() + begin, 1, end - begin);
      });
    });
  }
}
BENCHMARK(BM_TouchNewMemory)->Apply(ManyBytes);

void BM_Decode(benchmark::State& state) {
  const SyntheticChunks& chunks = Chunks(state.range(0));
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  StageTimer timer(state, chunks.ranges());
  for (auto _ : state) {
    model::TraceShard shard;
    timer.Time([&] { shard = Decode(chunks); });
  }
}
BENCHMARK(BM_Decode)->Apply(Sizes);

void MeasureChunksToTrace(benchmark::State& state, uint32_t threads) {
  const SyntheticChunks& chunks = Chunks(state.range(0), threads);
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  StageTimer timer(state, chunks.ranges());
  for (auto _ : state) {
    std::optional<model::Trace> trace;
    timer.Time([&] { trace = ToTrace(Decode(chunks)); });
    state.counters["bytes_per_range"] =
        static_cast<double>(ColumnBytes(trace->data())) /
        static_cast<double>(chunks.ranges());
  }
}

void BM_ChunksToTrace(benchmark::State& state) {
  MeasureChunksToTrace(state, 8);
}
BENCHMARK(BM_ChunksToTrace)->Apply(Sizes);

void BM_KeyAverages(benchmark::State& state) {
  const model::Trace trace = ToTrace(Decode(Chunks(state.range(0))));
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  StageTimer timer(state, trace.event_count());
  for (auto _ : state) {
    timer.Time([&] { benchmark::DoNotOptimize(analysis::KeyAverages(trace)); });
  }
}
BENCHMARK(BM_KeyAverages)->Apply(Sizes);

void BM_KeyAverages_MergeDuplicates(benchmark::State& state) {
  const model::Trace trace = ToTrace(Decode(Chunks(state.range(0))));
  const ParallelismLimit limit(static_cast<int>(state.range(1)));
  StageTimer timer(state, trace.event_count());
  for (auto _ : state) {
    timer.Time([&] {
      benchmark::DoNotOptimize(
          analysis::KeyAverages(trace, analysis::Duplicates::kMerge));
    });
  }
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
  StageTimer timer(state, trace.event_count());
  for (auto _ : state) {
    timer.Time([&] {
      benchmark::DoNotOptimize(analysis::KeyAverages(trace, options));
    });
  }
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
  StageTimer timer(state, state.range(0));
  for (auto _ : state) {
    auto session = *backend->NewSession({.target_path = ""});
    if (!session->Prepare(nullptr).ok() || !session->Start(getpid()).ok()) {
      state.SkipWithError("cannot record");
      return;
    }
    for (int64_t i = 0; i < state.range(0); ++i) {
      KYMO_RECORD_FUNCTION("operation");
    }
    std::vector<analysis::KeyAverage> averages;
    timer.Time([&] {
      session->Stop().IgnoreError();
      model::TraceShard shard;
      session->Collect(shard).IgnoreError();
      averages = analysis::KeyAverages(ToTrace(std::move(shard)));
    });
    if (averages[0].count != state.range(0)) {
      state.SkipWithError("operations are missing");
      return;
    }
  }
}
BENCHMARK(BM_StopToKeyAverages)->Apply(Sizes);

}  // namespace
}  // namespace kymo::benchmarks
