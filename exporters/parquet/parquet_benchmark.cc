// Export of a million ranges to nowhere, on two threads and on one.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "exporters/parquet/parquet_exporter.h"
#include "profiler/base/parallel.h"
#include "tests/support/test_null_directory.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

constexpr int kRanges = 1'000'000;

model::Trace MakeRanges() {
  TestTrace t;
  t.AddProcess(4242, "app");
  const auto main = t.AddThread(4242, 4243, "worker");
  std::mt19937_64 random(1);
  TimeNs now = 1'735'632'360 * kNsPerSecond;
  for (int i = 0; i < kRanges / 2; ++i) {
    const auto length = static_cast<DurationNs>(500 + random() % 20'000);
    t.AddRange(main, "ns::operation_" + std::to_string(random() % 200), now,
               now + length);
    t.AddRange(main, "inner", now + 50, now + length / 2);
    now += length + static_cast<DurationNs>(random() % 1'000);
  }
  return std::move(t).Build();
}

void BM_ExportRanges(benchmark::State& state) {
  static const model::Trace trace = MakeRanges();
  const ParallelismLimit limit(static_cast<int>(state.range(0)));
  const auto exporter = NewParquetExporter();
  int64_t bytes = 0;
  for (auto _ : state) {
    NullDirectory out;
    if (!exporter->Export(trace, {}, out).ok()) {
      state.SkipWithError("export went wrong");
    }
    bytes = out.bytes();
  }
  state.SetItemsProcessed(state.iterations() * kRanges);
  state.counters["bytes_a_range"] = static_cast<double>(bytes) / kRanges;
}
BENCHMARK(BM_ExportRanges)->Arg(2)->Arg(1)->UseRealTime();

}  // namespace
}  // namespace kymo
