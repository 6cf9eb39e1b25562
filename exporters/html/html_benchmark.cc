// The page of a million ranges on four threads, and of 11,000 samples that are
// 60 frames deep. `page_bytes` is the size of the file.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "exporters/html/html_exporter.h"
#include "tests/support/test_null_directory.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

// Numbers that do not compress, as those of clocks.
class Noise {
 public:
  int64_t Below(int64_t most) {
    state_ = state_ * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    return static_cast<int64_t>(state_ >> 33) % most;
  }

 private:
  uint64_t state_ = 1;
};

// An operation with two ranges inside, 60 names, about 2 us each.
model::Trace MakeRanges(int64_t ranges) {
  TestTrace t;
  t.AddProcess(1, "app");
  Noise noise;
  for (int tid = 1; tid <= 4; ++tid) {
    const auto track = t.AddThread(1, tid, "worker");
    TimeNs now = 0;
    for (int64_t i = 0; i < ranges / 12; ++i) {
      const std::string name =
          "ns::operation_" + std::to_string(noise.Below(20));
      const DurationNs first = 200 + noise.Below(1'500);
      const DurationNs second = 200 + noise.Below(1'500);
      t.AddRange(track, name, now, now + first + second + 600);
      t.AddRange(track, name + "::first", now + 100, now + 100 + first);
      t.AddRange(track, name + "::second", now + 300 + first,
                 now + 300 + first + second);
      now += first + second + 700 + noise.Below(1'000);
    }
  }
  return std::move(t).Build();
}

model::Trace MakeSamples() {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto track = t.AddThread(1, 1, "main");
  Noise noise;
  for (int64_t i = 0; i < 11'000; ++i) {
    model::StackId stack = model::kEmptyStack;
    for (int depth = 0; depth < 60; ++depth) {
      const int64_t choice = depth < 40 ? 0 : noise.Below(2);
      stack = t.data().stacks.Push(
          stack, t.data().stacks.AddFrame(
                     {.function = t.Intern("ns::Class::function_" +
                                           std::to_string(2 * depth + choice) +
                                           "(int)"),
                      .module = t.Intern("/usr/bin/app")}));
    }
    t.data().samples.push_back(
        {track, stack, 1'000'000 * i + noise.Below(9'999), 1'000'000});
  }
  t.SetWindow(0, 11'000 * kNsPerMs);
  return std::move(t).Build();
}

void ExportPage(benchmark::State& state, const model::Trace& trace) {
  int64_t bytes = 0;
  for (auto _ : state) {
    NullDirectory out;
    if (!NewHtmlExporter()->Export(trace, {}, out).ok()) std::abort();
    bytes = out.bytes();
  }
  state.counters["page_bytes"] = static_cast<double>(bytes);
}

void BM_Ranges(benchmark::State& state) {
  ExportPage(state, MakeRanges(state.range(0)));
}
BENCHMARK(BM_Ranges)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void BM_Samples(benchmark::State& state) { ExportPage(state, MakeSamples()); }
BENCHMARK(BM_Samples)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace kymo
