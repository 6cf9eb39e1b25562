// Exports a million ranges, operations with all that they can carry, memory
// records, and samples, to nowhere and to a file.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>

#include "exporters/chrome/chrome_exporter.h"
#include "profiler/base/op_inputs.h"
#include "profiler/base/parallel.h"
#include "tests/support/test_null_directory.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

constexpr int kRanges = 1'000'000;

model::Trace MakeRanges() {
  TestTrace t;
  t.AddProcess(4242, "app");
  const TimeNs base = 1'735'632'360 * kNsPerSecond;
  const auto main = t.AddThread(4242, 4243, "worker");
  for (int i = 0; i < kRanges / 2; ++i) {
    const std::string name = "ns::operation_" + std::to_string(i % 200);
    t.AddRange(main, name, base + 2'000 * i, base + 2'000 * i + 1'900);
    t.AddRange(main, "inner", base + 2'000 * i + 10, base + 2'000 * i + 900);
  }
  return std::move(t).Build();
}

void BM_Export_Ranges(benchmark::State& state) {
  const model::Trace trace = MakeRanges();
  const ParallelismLimit limit(static_cast<int>(state.range(0)));
  NullDirectory out;
  for (auto _ : state) {
    if (!NewChromeExporter()->Export(trace, {}, out).ok()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * kRanges);
  state.SetBytesProcessed(out.bytes());
}
BENCHMARK(BM_Export_Ranges)->ArgName("cores")->Arg(1)->Arg(2)->UseRealTime();

// Operations with two tensors of 500 shapes, a stack of 20 frames, a number;
// every other one is backward, so that each is the end of a flow.
model::Trace MakeOperations() {
  constexpr int kOperations = 200'000;
  TestTrace t;
  t.AddProcess(4242, "app");
  const auto main = t.AddThread(4242, 4243, "worker");
  t.data().tracks[main].logical_id = 1;
  model::StackId stack = model::kEmptyStack;
  for (uint32_t depth = 0; depth < 20; ++depth) {
    const model::FrameId frame = t.data().stacks.AddFrame(
        {.function = t.Intern("ns::Class::function(int, std::string const&)"),
         .file = t.Intern("/home/user/project/src/module.cc"),
         .line = depth + 1});
    stack = t.data().stacks.Push(stack, frame);
  }
  for (int i = 0; i < kOperations; ++i) {
    const int64_t sizes[] = {i % 500, 1'024};
    const int64_t strides[] = {1'024, 1};
    const TensorMeta tensor = {
        .sizes = sizes, .dtype = DType::kFloat, .strides = strides};
    const Input inputs[] = {tensor, tensor, Input(1)};
    std::string encoded(EncodedInputBytes(inputs, std::size(inputs)), '\0');
    EncodeInputs(inputs, std::size(inputs), encoded.data());
    t.AddRange(main, "aten::addmm", 2'000 * i, 2'000 * i + 1'900);
    t.Describe(static_cast<uint64_t>(i) + 1);
    model::Detail& detail = t.data().details.back();
    detail.inputs = t.Intern(encoded);
    detail.stack = stack;
    detail.sequence_nr = i / 2;
    t.SetRare({.forward_thread = static_cast<uint64_t>(i % 2)});
  }
  return std::move(t).Build();
}

void BM_Export_Operations(benchmark::State& state) {
  const model::Trace trace = MakeOperations();
  const ParallelismLimit limit(static_cast<int>(state.range(0)));
  NullDirectory out;
  for (auto _ : state) {
    if (!NewChromeExporter()->Export(trace, {}, out).ok()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<int64_t>(trace.event_count()));
  state.SetBytesProcessed(out.bytes());
}
BENCHMARK(BM_Export_Operations)
    ->ArgName("cores")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime();

// Every record written; addresses and totals as long as real ones.
void BM_Export_Memory(benchmark::State& state) {
  const int64_t records = state.range(1);
  TestTrace t;
  t.AddProcess(4242, "app");
  const TimeNs base = 1'735'632'360 * kNsPerSecond;
  const auto track = t.AddThread(4242, 4243, "worker");
  t.SetWindow(base, base + 500 * records);
  for (int64_t i = 0; i < records; ++i) {
    t.data().memory.push_back(
        {.track = track,
         .source = model::MemorySource::kHeap,
         .time_ns = base + 500 * i,
         .address = 0x7f00'0000'0000 + 64 * static_cast<uint64_t>(i % 4'096),
         .bytes = i % 2 == 0 ? 1'024 : -1'024,
         .total_allocated = 100'000'000 + 1'024 * (i % 7'919)});
  }
  const model::Trace trace = std::move(t).Build();
  const ParallelismLimit limit(static_cast<int>(state.range(0)));
  ExportOptions options;
  options.settings["chrome_memory_events"] = "-1";
  NullDirectory out;
  for (auto _ : state) {
    if (!NewChromeExporter()->Export(trace, options, out).ok()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * records);
  state.SetBytesProcessed(out.bytes());
}
BENCHMARK(BM_Export_Memory)
    ->ArgNames({"cores", "records"})
    ->Args({1, 1'000'000})
    ->Args({2, 1'000'000})
    ->Args({2, 10'000'000})
    ->UseRealTime();

void BM_Export_RangesToFile(benchmark::State& state) {
  const model::Trace trace = MakeRanges();
  const std::string folder =
      (std::filesystem::temp_directory_path() /
       ("kymo_chrome_benchmark." + std::to_string(getpid())))
          .string();
  OutputDirectory out(folder);
  ExportOptions options;
  options.gzip = state.range(0) != 0;
  for (auto _ : state) {
    if (!NewChromeExporter()->Export(trace, options, out).ok()) std::abort();
  }
  std::filesystem::remove_all(folder);
  state.SetItemsProcessed(state.iterations() * kRanges);
}
BENCHMARK(BM_Export_RangesToFile)
    ->ArgName("gzip")
    ->Arg(0)
    ->Arg(1)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// 100 000 samples, 20 frames deep, most frames shared with the one before.
void BM_Export_Samples(benchmark::State& state) {
  constexpr int kSamples = 100'000;
  TestTrace t;
  const auto track = t.AddThread(1, 1, "main");
  t.data().sampling_period_ns = kNsPerMs;
  for (int i = 0; i < kSamples; ++i) {
    model::StackId stack = model::kEmptyStack;
    for (int depth = 0; depth < 20; ++depth) {
      const int function = (i * 7919 % 1'000 >> (20 - depth)) * 31 + depth;
      stack = t.data().stacks.Push(
          stack, t.data().stacks.AddFrame(
                     {.function = t.Intern(std::to_string(function))}));
    }
    t.data().samples.push_back({track, stack, i * kNsPerMs, kNsPerMs});
  }
  const model::Trace trace = std::move(t).Build();
  NullDirectory out;
  for (auto _ : state) {
    if (!NewChromeExporter()->Export(trace, {}, out).ok()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * kSamples);
  state.SetBytesProcessed(out.bytes());
}
BENCHMARK(BM_Export_Samples)->UseRealTime();

}  // namespace
}  // namespace kymo
