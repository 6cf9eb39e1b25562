// The forms of a timeline of many blocks, to nowhere.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "exporters/memory_timeline/memory_timeline.h"
#include "tests/support/test_null_directory.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

// Two records a block; every block outlives the next 15.
model::Trace MakeBlocks(int64_t records) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.SetWindow(0, 500 * records);
  t.data().memory.resize(static_cast<size_t>(records));
  for (int64_t i = 0; i < records; ++i) {
    const bool is_free = i % 2 != 0;
    const int64_t partner = is_free ? i - 31 : i + 31;
    model::MemoryRecord& record = t.data().memory[static_cast<size_t>(i)];
    record = {.track = main,
              .source = model::MemorySource::kHeap,
              .time_ns = 500 * i,
              .bytes = is_free ? -1'024 : 1'024};
    if (partner >= 0 && partner < records) {
      record.partner = static_cast<model::MemoryIndex>(partner);
    }
  }
  return std::move(t).Build();
}

void BM_Export_MemoryTimeline(benchmark::State& state, const char* form) {
  const model::Trace trace = MakeBlocks(state.range(0));
  ExportOptions options;
  options.settings["memory_timeline_form"] = form;
  NullDirectory out;
  for (auto _ : state) {
    if (!NewMemoryTimelineExporter()->Export(trace, options, out).ok()) {
      std::abort();
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(BM_Export_MemoryTimeline, Page, "html")
    ->ArgName("records")
    ->Arg(1'000'000)
    ->Arg(10'000'000)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Export_MemoryTimeline, Rows, "json")
    ->ArgName("records")
    ->Arg(1'000'000)
    ->UseRealTime();

}  // namespace
}  // namespace kymo
