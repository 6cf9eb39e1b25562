// The cost of EventList: the tree of ranges as programs nest them, the corners
// (a deep chain, a wide parent, a chain of duplicates), and averages.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "profiler/events/event_list.h"
#include "profiler/events/event_tree.h"

namespace kymo {
namespace {

using Events = std::vector<FunctionEvent>;

FunctionEvent Event(std::string name, double start_us, double end_us) {
  FunctionEvent e;
  e.name = std::move(name);
  e.time_range = {start_us, end_us};
  return e;
}

// Calls of eight ranges each, three deep, of 64 names.
Events Calls(int64_t count) {
  Events events;
  events.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t call = i / 8, at = i % 8;
    const double begin_us = 100.0 * static_cast<double>(call);
    const std::string name =
        "aten::operation_" + std::to_string((call * 7 + at) % 64);
    if (at == 0) {
      events.push_back(Event(name, begin_us, begin_us + 90));
    } else if (at % 2 == 1) {
      const double start_us = begin_us + 10.0 * static_cast<double>(at);
      events.push_back(Event(name, start_us, start_us + 15));
    } else {
      const double start_us = begin_us + 10.0 * static_cast<double>(at) - 5;
      events.push_back(Event(name, start_us, start_us + 5));
    }
  }
  return events;
}

Events Chain(int64_t count, bool has_one_name) {
  Events events;
  const double n = static_cast<double>(count);
  for (double i = 0; i < n; ++i) {
    const bool is_even = static_cast<int64_t>(i) % 2 == 0;
    events.push_back(Event(has_one_name || is_even ? "a" : "b", i, 2 * n - i));
  }
  return events;
}

Events Wide(int64_t count) {
  Events events = {Event("root", -1, static_cast<double>(count) + 1)};
  for (int64_t i = 1; i < count; ++i) {
    const double start_us = static_cast<double>(i);
    events.push_back(Event("child", start_us, start_us + 1));
  }
  return events;
}

void BuildTrees(benchmark::State& state, const Events& events) {
  for (auto _ : state) {
    state.PauseTiming();
    Events copy = events;
    state.ResumeTiming();
    if (!BuildEventTree(copy).ok()) state.SkipWithError("no tree");
    benchmark::DoNotOptimize(copy.data());
    state.PauseTiming();
    Events().swap(copy);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<int64_t>(events.size()));
}

void BM_BuildTree_Calls(benchmark::State& state) {
  BuildTrees(state, Calls(state.range(0)));
}
BENCHMARK(BM_BuildTree_Calls)
    ->Arg(10'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);

void BM_BuildTree_DeepChain(benchmark::State& state) {
  BuildTrees(state, Chain(state.range(0), false));
}
BENCHMARK(BM_BuildTree_DeepChain)
    ->Arg(10'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);

void BM_BuildTree_Duplicates(benchmark::State& state) {
  BuildTrees(state, Chain(state.range(0), true));
}
BENCHMARK(BM_BuildTree_Duplicates)
    ->Arg(10'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);

void BM_BuildTree_WideParent(benchmark::State& state) {
  BuildTrees(state, Wide(state.range(0)));
}
BENCHMARK(BM_BuildTree_WideParent)
    ->Arg(10'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);

void BM_KeyAverages(benchmark::State& state) {
  EventList events(Calls(state.range(0)));
  if (!events.build_tree().ok()) state.SkipWithError("no tree");
  const KeyAveragesOptions options = {
      .group_by_input_shape = state.range(1) != 0,
      .group_by_stack_n = state.range(1) != 0 ? size_t{5} : size_t{0}};
  for (auto _ : state) {
    const auto averages = events.key_averages(options);
    if (!averages.ok()) state.SkipWithError("no averages");
    benchmark::DoNotOptimize(averages->size());
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<int64_t>(events.size()));
}
BENCHMARK(BM_KeyAverages)
    ->ArgNames({"events", "grouped"})
    ->ArgsProduct({{10'000, 1'000'000}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kymo
