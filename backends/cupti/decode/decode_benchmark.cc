// Benchmarks the decoding of a log of launches and kernels, on one core:
//
//   ./bazelw run -c opt //backends/cupti/decode:decode_benchmark
//
// Items are activity records. The budget is five million a second.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "backends/cupti/decode/decode.h"
#include "backends/cupti/log/test_log.h"

namespace kymo::cupti {
namespace {

constexpr uint32_t kLaunches = 500'000;

// Adds kernels of 50 names and 20 shapes on 4 streams. `waits`: after every ten
// kernels the thread waits for the stream.
void AddLaunches(TestLog& log, bool waits) {
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) {
    names.push_back("_Z6kernel" + std::to_string(10 + i) + "PfS_i");
  }
  for (uint32_t i = 0; i < kLaunches; ++i) {
    const uint64_t at = 1'000'000 + uint64_t{i} * 5000;
    log.Call("cudaLaunchKernel_v7000", 2 * i + 1, at, at + 3000);
    KernelRecord kernel =
        TestLog::SomeKernel(2 * i + 1, at + 4000, at + 4000 + 100 * (i % 40));
    kernel.end += 1;
    kernel.stream = 7 + i % 4;
    kernel.grid[0] = static_cast<int32_t>(100 + i % 20);
    log.Add(RecordKind::kKernel, kernel, names[i % names.size()].c_str());
    if (!waits || i % 10 != 9) continue;
    const uint32_t id = 2 * i + 2;
    log.Call("cudaStreamSynchronize", id, at + 3000, at + 9000);
    log.Add(RecordKind::kSync, SyncRecord{.start = at + 3000,
                                          .end = at + 9000,
                                          .type = 3,
                                          .context = 1,
                                          .stream = kernel.stream,
                                          .correlation = id});
  }
}

void Decode(benchmark::State& state, bool waits) {
  TestLog log;
  log.Device(0, "A100");
  AddLaunches(log, waits);
  const auto bytes = log.bytes();
  for (auto _ : state) {
    model::TraceShard shard;
    benchmark::DoNotOptimize(DecodeLog({.pid = 42}, bytes, {}, shard));
    state.PauseTiming();
    shard = {};
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() *
                          (2 * kLaunches + (waits ? kLaunches / 5 : 0)));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(bytes.size()));
}

void BM_Decode_LaunchesAndKernels(benchmark::State& state) {
  Decode(state, false);
}
BENCHMARK(BM_Decode_LaunchesAndKernels)->Unit(benchmark::kMillisecond);

void BM_Decode_LaunchesKernelsAndWaits(benchmark::State& state) {
  Decode(state, true);
}
BENCHMARK(BM_Decode_LaunchesKernelsAndWaits)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kymo::cupti
